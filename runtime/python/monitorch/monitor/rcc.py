"""The refined coordinate check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor


def l2_norm(tensor: Any) -> Any:
    """The L2 norm over the last dimension."""
    raise NotImplementedError


class RefinedCoordinateCheck:
    """Needs the module and the reference module of the monitor. Sees their calls by
    `monitor.add_forward_hooks`, which has hooks on monitored steps alone."""

    def __init__(self, monitor: ModuleMonitor) -> None:
        raise NotImplementedError

    def refined_coordinate_check(self) -> None:
        raise NotImplementedError
