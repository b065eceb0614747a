"""MonitorMixin: modules that log what happens inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor

_ATTRIBUTE = "_module_monitor"


class _Link:
    """A module's monitor. Copies of a module, and what is pickled of one, have none."""

    def __init__(self, monitor: ModuleMonitor | None = None, is_reference: bool = False) -> None:
        self.monitor = monitor
        self.is_reference = is_reference

    def __reduce__(self) -> tuple[type[_Link], tuple[()]]:
        return _Link, ()


_NO_LINK = _Link()


class MonitorMixin:
    """For a module's class: within its forward, `self.is_monitoring` says whether the running
    step is monitored, and `self.get_module_monitor()` is the monitor to log to.

        class Layer(nn.Module, MonitorMixin):
            def forward(self, x):
                if self.is_monitoring:
                    self.get_module_monitor().log_tensor("mine/x", x)

    In a reference module it is true in `no_monitor()` too: what is given to monitor_activations
    there is kept for the comparison, and nothing is logged.
    """

    @property
    def is_monitoring(self) -> bool:
        link: _Link = self.__dict__.get(_ATTRIBUTE, _NO_LINK)
        monitor = link.monitor
        if monitor is None:
            return False
        return monitor.is_open if link.is_reference else monitor.is_monitoring()

    @property
    def is_reference_module(self) -> bool:
        """Whether this is a part of a monitor's reference module."""
        link: _Link = self.__dict__.get(_ATTRIBUTE, _NO_LINK)
        return link.is_reference

    def get_module_monitor(self) -> ModuleMonitor | None:
        """The monitor whose module or reference module this is a part of."""
        link: _Link = self.__dict__.get(_ATTRIBUTE, _NO_LINK)
        return link.monitor

    def set_module_monitor(
        self, monitor: ModuleMonitor | None = None, is_reference_module: bool = False
    ) -> None:
        """Called by the monitor; None: it has none any more."""
        if monitor is None:
            self.__dict__.pop(_ATTRIBUTE, None)
        else:
            self.__dict__[_ATTRIBUTE] = _Link(monitor, is_reference_module)
