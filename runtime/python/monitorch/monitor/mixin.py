"""MonitorMixin: modules that log what happens inside them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor

# Beside the modules, so that copies of them, state_dict and pickle know nothing of monitors.
_monitors: weakref.WeakKeyDictionary[Any, tuple[weakref.ref[ModuleMonitor], bool]] = (
    weakref.WeakKeyDictionary()
)


class MonitorMixin:
    """For a module's class: within its forward, `self.is_monitoring` says whether the running
    step is monitored, and `self.get_module_monitor()` is the monitor to log to.

        class Layer(nn.Module, MonitorMixin):
            def forward(self, x):
                if self.is_monitoring:
                    self.get_module_monitor().log_tensor("mine/x", x)
    """

    @property
    def is_monitoring(self) -> bool:
        monitor = self.get_module_monitor()
        return monitor is not None and monitor.is_monitoring()

    @property
    def is_reference_module(self) -> bool:
        """Whether this is a part of a monitor's reference module."""
        found = _monitors.get(self)
        return found is not None and found[1]

    def get_module_monitor(self) -> ModuleMonitor | None:
        """The monitor whose module or reference module this is a part of."""
        found = _monitors.get(self)
        return None if found is None else found[0]()

    def set_module_monitor(
        self, monitor: ModuleMonitor | None = None, is_reference_module: bool = False
    ) -> None:
        """Called by the monitor; None: it has none any more."""
        if monitor is None:
            _monitors.pop(self, None)
        else:
            _monitors[self] = weakref.ref(monitor), is_reference_module
