"""What a monitor is asked to measure: the metrics of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitorch.monitor._measures import PARAMETER_KINDS, Measures
from monitorch.monitor._metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitorch.monitor._metrics import Aggregation, Function


class Asked(Measures):
    """Metrics may be added at any time, and count from the next monitored step on."""

    #: Whether hooks and locals are not those of the metrics and models that there are now.
    _is_stale = True

    def add_activation_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        metric_aggregation_fn: Aggregation | None = None,
        *,
        axis: int | None = None,
    ) -> None:
        """`activation/{module}/{metric_name}`, of what modules return whose names the regex matches
        from their start; with a colon in it, of values inside of their methods:
        "encoder.forward:scores".

        Values of one step are averaged, or given to `metric_aggregation_fn` in one tensor. Built-in
        metrics are those of all calls' elements together. With `axis` there is one value for each
        index of that dimension, `activation/{module}/{metric_name}/{index}`.
        """
        metric = Metric(metric_name, metric_fn, metric_regex, metric_aggregation_fn, axis)
        self._add("activation", metric)

    def add_activation_difference_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        metric_aggregation_fn: Aggregation | None = None,
        *,
        axis: int | None = None,
    ) -> None:
        """`activation_difference/{module}/{metric_name}`: metric_fn(activation, that of the reference
        module at the same call), or a built-in metric of the difference between the two."""
        metric = Metric(metric_name, metric_fn, metric_regex, metric_aggregation_fn, axis)
        self._add("activation_difference", metric)

    def add_parameter_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """`parameter/{parameter}/{metric_name}`, by monitor_parameters()."""
        self._add("parameter", Metric(metric_name, metric_fn, metric_regex, None, axis))

    def add_parameter_difference_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """`parameter_difference/{parameter}/{metric_name}`, by monitor_parameters()."""
        self._add("parameter_difference", Metric(metric_name, metric_fn, metric_regex, None, axis))

    def add_gradient_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """`gradient/{parameter}/{metric_name}`, by monitor_gradients()."""
        self._add("gradient", Metric(metric_name, metric_fn, metric_regex, None, axis))

    def _add(self, kind: str, metric: Metric) -> None:
        if metric.name in self._metrics[kind]:
            what = kind.replace("_", " ").capitalize()
            raise ValueError(f"{what} metric {metric.name} already exists.")
        self._metrics[kind][metric.name] = metric
        if self.module is not None:
            self._check_parameters([kind])
        # What was found to have no metric may have this one.
        self._targets = {key: target for key, target in self._targets.items() if target}
        self._renew()

    def _check_parameters(self, kinds: Iterable[str]) -> None:
        """Warns of metrics that are of no parameter of the model."""
        for kind in kinds:
            if kind in PARAMETER_KINDS:
                names = [name for name, _ in self._find_parameters(self.module)]
                self._unmatched.check_parameters(self._metrics[kind].values(), names)

    def _renew(self) -> None:
        """Metrics or models are others than before, from the next monitored step on."""
        self._is_stale = True
