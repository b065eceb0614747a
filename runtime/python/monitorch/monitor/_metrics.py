"""The requested metrics of a monitor, and their targets."""

from __future__ import annotations

import re
import sys
from numbers import Number
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._models import find_version
from monitorch.monitor._names import names_locals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Function = str | Callable[..., Any]
    Aggregation = Callable[..., Any]

HISTOGRAM = "hist"
#: The names of the built-in metrics.
BUILT_IN = (*_recorder.GAUGE_METRICS, HISTOGRAM)


class Metric:
    """One metric: a built-in one, or the user's function."""

    def __init__(
        self,
        name: str,
        function: Function,
        regex: str,
        aggregation: Aggregation | None = None,
        axis: int | None = None,
    ) -> None:
        if isinstance(function, str):
            if function not in BUILT_IN:
                known = ", ".join(BUILT_IN)
                raise ValueError(
                    f"Metric {name}: unknown built-in metric '{function}'; the built-in metrics "
                    f"are {known}"
                )
            if aggregation is not None and function == HISTOGRAM:
                raise ValueError(f"Metric {name}: a histogram cannot have an aggregation function")
        elif not callable(function):
            raise TypeError(
                f"Metric {name}: expected a function or the name of a built-in metric, "
                f"not {function!r}"
            )
        elif axis is not None:
            raise ValueError(f"Metric {name}: axis is only for built-in metrics")
        self.name = name
        self.aggregation = aggregation
        self.axis = axis
        self.is_built_in = isinstance(function, str)
        # With the user's aggregation, each call is measured separately.
        self.built_in = function if isinstance(function, str) and aggregation is None else None
        self.function: Callable[..., Any] | None = None
        if self.built_in is None:
            self.function = _measure_each(function, axis) if isinstance(function, str) else function
        self.regex = regex
        #: Whether it has matched any name so far.
        self.has_match = False
        self._regex = re.compile(regex)
        self.names_locals = names_locals(regex)

    def matches(self, name: str) -> bool:
        # A metric whose regex matches everything does not match the variables of forwards.
        if ":" in name and not self.names_locals:
            return False
        is_match = self._regex.match(name) is not None
        self.has_match = self.has_match or is_match
        return is_match


def _measure_each(built_in: str, axis: int | None) -> Callable[..., Any]:
    gauge = _recorder.Gauge(("x",), (built_in,), None, axis)

    def measure(tensor: Any) -> Any:
        torch = sys.modules["torch"]
        found: dict[str, float] = {}
        gauge.add(tensor)
        gauge.collect(found, {})
        if not found:
            return float("nan")  # the tensor has no values in this context
        return torch.tensor(list(found.values()), dtype=torch.float64)

    return measure


class Target:
    """All metrics of one key: `activation/encoder.0`."""

    __slots__ = ("functions", "gauges", "key")

    def __init__(self, key: str, metrics: Iterable[Metric], threads: int) -> None:
        self.key = key
        metrics = list(metrics)
        self.functions = [metric for metric in metrics if metric.function is not None]
        self.gauges = tuple(_make_gauges(key, metrics, threads))

    def __bool__(self) -> bool:
        return bool(self.functions or self.gauges)


def _make_gauges(key: str, metrics: list[Metric], threads: int) -> Iterator[_recorder.Gauge]:
    """The gauges of a target, at least one for each axis."""
    wanted = [metric for metric in metrics if metric.built_in is not None]
    for axis in dict.fromkeys(metric.axis for metric in wanted):
        alike = [metric for metric in wanted if metric.axis == axis]
        plain = [metric for metric in alike if metric.built_in != HISTOGRAM]
        histograms = [metric for metric in alike if metric.built_in == HISTOGRAM]
        # A gauge has each metric once, and at most one histogram: further names need further
        # gauges.
        while plain or histograms:
            now, later = _split(plain)
            yield _recorder.Gauge(
                tuple(f"{key}/{metric.name}" for metric in now),
                tuple(str(metric.built_in) for metric in now),
                f"{key}/{histograms[0].name}" if histograms else None,
                axis,
                threads,
            )
            plain, histograms = later, histograms[1:]


def _split(metrics: list[Metric]) -> tuple[list[Metric], list[Metric]]:
    now: dict[str | None, Metric] = {}
    later = []
    for metric in metrics:
        if metric.built_in in now:
            later.append(metric)
        else:
            now[metric.built_in] = metric
    return list(now.values()), later


def compute(metric: Metric, what: str, tensor: Any, *others: Any) -> Any:
    """Calls the user's function with the tensor, and checks that it left the tensor unchanged.

    `what` names the module or parameter in messages.
    """
    assert metric.function is not None
    view = tensor.detach()
    version = find_version(view)
    try:
        value = metric.function(view, *others)
    except Exception as error:
        raise RuntimeError(
            f"Failed to monitor {what}: metric {metric.name}, {describe(tensor)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if find_version(view) != version:
        raise RuntimeError(
            f"Failed to monitor {what}: metric {metric.name}, {describe(tensor)}: it wrote "
            "to the tensor in place, which would change the training; clone the tensor in the "
            "metric first"
        )
    if isinstance(value, Number) and not isinstance(value, complex):
        return value
    if hasattr(value, "detach") and not value.is_complex():
        return value.detach()
    raise RuntimeError(
        f"Failed to monitor {what}: metric {metric.name}, {describe(tensor)}: it returned "
        f"{_shorten(value)}, expected a number or a tensor of real numbers"
    )


def describe(tensor: Any) -> str:
    return f"shape {tuple(tensor.shape)}"


def _shorten(value: object) -> str:
    text = repr(value)
    kind = type(value).__name__
    return f"a {kind}, {text if len(text) <= 60 else text[:57] + '...'}"
