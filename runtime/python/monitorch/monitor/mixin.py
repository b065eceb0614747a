"""MonitorMixin: lets a module log values from inside its forward."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor

_ATTRIBUTE = "_module_monitor"


class _Link:
    """A module's monitor. Copies and pickles of a module have none."""

    def __init__(self, monitor: ModuleMonitor | None = None, is_reference: bool = False) -> None:
        self.monitor = monitor
        self.is_reference = is_reference

    def __reduce__(self) -> tuple[type[_Link], tuple[()]]:
        return _Link, ()


_NO_LINK = _Link()


class MonitorMixin:
    """Base class that connects a module with its monitor.

    Example::

        >>> class Layer(nn.Module, MonitorMixin):
        ...     def forward(self, x):
        ...         if self.is_monitoring:
        ...             self.get_module_monitor().log_tensor("mine/x", x)
        ...         return x
    """

    @property
    def is_monitoring(self) -> bool:
        """Whether a monitored step is open.

        In a reference module it is ``True`` in `no_monitor()` too: what is passed to
        `monitor_activations` there is kept for the comparison, and nothing is logged.
        """
        link: _Link = self.__dict__.get(_ATTRIBUTE, _NO_LINK)
        monitor = link.monitor
        if monitor is None:
            return False
        return monitor.is_open if link.is_reference else monitor.is_monitoring()

    @property
    def is_reference_module(self) -> bool:
        """Whether the module is part of a monitor's reference module."""
        link: _Link = self.__dict__.get(_ATTRIBUTE, _NO_LINK)
        return link.is_reference

    def get_module_monitor(self) -> ModuleMonitor | None:
        """Returns the monitor that the module belongs to, or ``None``."""
        link: _Link = self.__dict__.get(_ATTRIBUTE, _NO_LINK)
        return link.monitor

    def set_module_monitor(
        self, monitor: ModuleMonitor | None = None, is_reference_module: bool = False
    ) -> None:
        """Connects the module with a monitor. The monitor calls this; ``None`` disconnects."""
        if monitor is None:
            self.__dict__.pop(_ATTRIBUTE, None)
        else:
            self.__dict__[_ATTRIBUTE] = _Link(monitor, is_reference_module)
