"""The change of each parameter by an optimizer's step, relative to the parameter's size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Updates:
    """Hooks around an optimizer's step, which copy the parameters on monitored steps."""

    def __init__(
        self,
        optimizer: Any,
        is_monitoring: Callable[[], bool],
        find_parameters: Callable[[], list[tuple[str, Any]]],
        log: Callable[[str, float], None],
    ) -> None:
        self._is_monitoring = is_monitoring
        self._find_parameters = find_parameters
        self._log = log
        self._before: list[tuple[str, Any, Any]] = []
        self._handles = (
            optimizer.register_step_pre_hook(self._begin),
            optimizer.register_step_post_hook(self._end),
        )

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._before = []

    def _begin(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._before = []
        if not self._is_monitoring():
            return
        stepped = {id(item) for group in optimizer.param_groups for item in group["params"]}
        self._before = [
            (name, parameter, parameter.detach().clone())
            for name, parameter in self._find_parameters()
            if id(parameter) in stepped and parameter.grad is not None
        ]

    def _end(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        before, self._before = self._before, []
        for name, parameter, copy in before:
            weight = _norm(copy)
            # Computed in the memory of the copy, so that there is no third tensor of that size.
            update = _norm(copy.sub_(parameter.detach()))
            self._log(f"update/{name}/norm", update)
            ratio = update / weight if weight else math.inf if update else math.nan
            self._log(f"update/{name}/ratio", ratio)


def _norm(tensor: Any) -> float:
    from monitorch import _recorder

    found: dict[str, float] = {}
    gauge = _recorder.Gauge(("norm",), ("norm",))
    if gauge.add(tensor) is not None:
        return float(tensor.float().norm())
    gauge.collect(found, {})
    return found["norm"]
