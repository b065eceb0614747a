"""Warnings about metrics and alerts that match nothing, usually because of a misspelt name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitorch import _nearest
from monitorch.monitor._locals import list_locals

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable, Mapping
    from typing import Any

    from monitorch.monitor._alerts import Rule
    from monitorch.monitor._metrics import Metric


class Unmatched:
    """The warnings of a monitor. Each metric and each alert gets at most one."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._warned: set[int] = set()  # ids of metrics and alerts, which their owner keeps alive

    def check_parameters(self, metrics: Iterable[Metric], names: Iterable[str]) -> None:
        """Checks metrics of parameters or gradients, as soon as the model is known."""
        names = list(names)
        for metric in metrics:
            if not metric.has_match and not any(map(metric.matches, names)):
                self._warn(
                    metric,
                    f"Metric {metric.name!r} matches no parameter: none has a name like {metric.regex!r}"
                    + _nearest.suggest(_nearest.read_regex(metric.regex), names),
                )

    def check_activations(
        self, step: int, metrics: Iterable[Metric], modules: Mapping[Any, str], given: Iterable[str]
    ) -> None:
        """Checks metrics of activations at the end of a monitored step.

        `given`: the names that monitor_activations was called with.
        """
        for metric in metrics:
            if id(metric) in self._warned:
                continue
            if metric.names_locals:
                what = "value in a method"
                names: Iterable[str] = list_locals(modules)
            else:
                what = "module, and no name passed to monitor_activations"
                names = [*modules.values(), *given]
            globs = _nearest.read_regex(metric.regex)
            self._warn(
                metric,
                f"Step {step}: metric {metric.name!r} measures nothing: {metric.regex!r} matches no "
                f"{what}{_nearest.suggest(globs, names)}",
            )

    def check_rules(self, step: int, rules: Iterable[Rule], keys: Iterable[str]) -> None:
        """Checks alerts at the end of a monitored step with these keys."""
        keys = list(keys)
        for rule in rules:
            if keys and not rule.is_about(keys):
                self._warn(
                    rule,
                    f"Step {step}: alert {rule.condition!r} matches no key of this step"
                    + _nearest.suggest(rule.glob, keys),
                )

    def _warn(self, owner: Metric | Rule, text: str) -> None:
        if id(owner) not in self._warned:
            self._warned.add(id(owner))
            self._logger.warning("%s", text)
