"""The requested metrics of a monitor, of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitorch.monitor._measures import PARAMETER_KINDS, Measures
from monitorch.monitor._metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitorch.monitor._metrics import Aggregation, Function


class Asked(Measures):
    """The part of a ModuleMonitor that adds metrics, at any time; they count from the next
    monitored step."""

    #: Whether hooks and locals must be rebuilt for the present metrics and models.
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
        """Adds a metric of module outputs, logged as ``activation/{module}/{metric_name}``.

        Args:
            metric_name (str): the last part of the key.
            metric_fn (str or callable): the name of a built-in metric, or a function that receives
                the detached output and returns a number or a tensor.
            metric_regex (str, optional): selects modules by name; it matches from the start. With a
                colon it selects values inside methods: ``"encoder.forward:scores"``.
                Default: ``".*"``
            metric_aggregation_fn (callable, optional): receives all values of one step as one flat
                tensor and returns a number, or a dict of key endings and numbers. Default: the
                mean; a built-in metric of several calls is computed over all their elements
            axis (int, optional): for built-in metrics: one value for each index of this dimension,
                ``activation/{module}/{metric_name}/{index}``.

        Raises:
            ValueError: if the name is used already, or there is no such built-in metric.

        Example::

            >>> monitor.add_activation_metric("std", "std")
            >>> monitor.add_activation_metric("rows", lambda x: x.norm(dim=-1), r"encoder\\.")
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
        """Adds a metric that compares module outputs with those of the reference module.

        It is logged as ``activation_difference/{module}/{metric_name}``. Each call is compared with
        the reference module's call of the same number.

        Args:
            metric_name (str): the last part of the key.
            metric_fn (str or callable): a function of (activation, reference activation), or the
                name of a built-in metric of the difference between the two.
            metric_regex, metric_aggregation_fn, axis: as for `add_activation_metric`.

        Example::

            >>> monitor.add_activation_difference_metric("l2", lambda act, ref: (act - ref).norm())
        """
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
        """Adds a metric of parameters, logged as ``parameter/{parameter}/{metric_name}``.

        `monitor_parameters()` measures it.

        Args:
            metric_name (str): the last part of the key.
            metric_fn (str or callable): a built-in metric, or a function of the parameter.
            metric_regex (str, optional): selects parameters by name. Default: ``".*"``
            axis (int, optional): as for `add_activation_metric`.
        """
        self._add("parameter", Metric(metric_name, metric_fn, metric_regex, None, axis))

    def add_parameter_difference_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """Adds a metric that compares parameters with those of the reference module.

        It is logged as ``parameter_difference/{parameter}/{metric_name}``. `monitor_parameters()`
        measures it.

        Args:
            metric_name (str): the last part of the key.
            metric_fn (str or callable): a function of (parameter, reference parameter), or a
                built-in metric of the difference between the two.
            metric_regex, axis: as for `add_parameter_metric`.
        """
        self._add("parameter_difference", Metric(metric_name, metric_fn, metric_regex, None, axis))

    def add_gradient_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """Adds a metric of gradients, logged as ``gradient/{parameter}/{metric_name}``.

        `monitor_gradients()` measures it.

        Args:
            metric_name (str): the last part of the key.
            metric_fn (str or callable): a built-in metric, or a function of the gradient.
            metric_regex, axis: as for `add_parameter_metric`.
        """
        self._add("gradient", Metric(metric_name, metric_fn, metric_regex, None, axis))

    def _add(self, kind: str, metric: Metric) -> None:
        if metric.name in self._metrics[kind]:
            what = kind.replace("_", " ").capitalize()
            raise ValueError(f"{what} metric {metric.name} already exists.")
        self._metrics[kind][metric.name] = metric
        if self.module is not None:
            self._check_parameters([kind])
        # Targets without any metric are dropped, since this one may apply to them.
        self._targets = {key: target for key, target in self._targets.items() if target}
        self._renew()

    def _check_parameters(self, kinds: Iterable[str]) -> None:
        """Warns of metrics that match no parameter of the model."""
        for kind in kinds:
            if kind in PARAMETER_KINDS:
                names = [name for name, _ in self._find_parameters(self.module)]
                self._unmatched.check_parameters(self._metrics[kind].values(), names)

    def _renew(self) -> None:
        """Rebuilds hooks and targets before the next monitored step."""
        self._is_stale = True
