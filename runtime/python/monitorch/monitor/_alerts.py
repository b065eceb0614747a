"""Alerts: conditions on metrics, and the actions when a metric fulfils one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from monitorch import _recorder, _selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Action = Literal["raise", "stop"] | Callable[["MonitorAlert"], Any]

_EXPECTED = "an alert must have the form 'activation/*/nan > 0'"
ACTIONS = ("raise", "stop")


class MonitorAlert(RuntimeError):
    """Raised by `ModuleMonitor.end_step` when a metric fulfils an alert's condition.

    A function that an alert has as its action receives it as its argument.

    Attributes:
        condition (str): the condition.
        step (int): the step.
        found (dict[str, float]): all metrics that fulfil the condition.
    """

    def __init__(self, condition: str, step: int, found: dict[str, float]) -> None:
        keys = ", ".join(f"{key} = {value:g}" for key, value in list(found.items())[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        super().__init__(f"step {step}: {condition}: {keys}{more}")
        self.condition = condition
        self.step = step
        #: {key: value} of all metrics that fulfil it
        self.found = found

    def __reduce__(self) -> tuple[type[MonitorAlert], tuple[str, int, dict[str, float]]]:
        return type(self), (self.condition, self.step, self.found)


class Rule:
    """One alert."""

    def __init__(self, condition: str, action: Action) -> None:
        self.glob, self._is_fulfilled = _selection.read_condition(_EXPECTED, condition)
        if isinstance(action, str) and action not in ACTIONS:
            raise ValueError(f"action must be 'raise', 'stop' or a function, not {action!r}")
        if not isinstance(action, str) and not callable(action):
            raise TypeError(f"action must be 'raise', 'stop' or a function, not {action!r}")
        self.condition = condition.strip()
        self.action = action
        #: Whether the condition has selected any key so far.
        self.has_match = False
        self._known: dict[str, bool] = {}  # key: whether the condition selects it

    def is_about(self, keys: Iterable[str]) -> bool:
        """Whether the condition selects any of the keys."""
        return any([self._is_meant(key) for key in keys])

    def _is_meant(self, key: str) -> bool:
        is_meant = self._known.get(key)
        if is_meant is None:
            is_meant = self._known[key] = _recorder.match_glob(key, self.glob)
            self.has_match = self.has_match or is_meant
        return is_meant

    def find(self, metrics: Mapping[str, Any]) -> dict[str, float]:
        """The step's metrics that fulfil the condition."""
        found = {}
        for key, value in metrics.items():
            if self._is_meant(key) and self._is_fulfilled(float(value)):
                found[key] = float(value)
        return found
