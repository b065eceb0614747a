"""What a monitor measures, and logs: activations, parameters, gradients, and how they differ from the
reference module's."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch.monitor import _metrics
from monitorch.monitor._metrics import Metric, Target
from monitorch.monitor._sinks import Sinks
from monitorch.monitor._unmatched import Unmatched
from monitorch.monitor.storage import StorageManager

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Mapping

    from monitorch.monitor._metrics import Aggregation
    from monitorch.monitor._updates import Updates

ACTIVATION_KINDS = ("activation", "activation_difference")
PARAMETER_KINDS = ("parameter", "parameter_difference", "gradient")


class Measures(Sinks):
    """The part of a ModuleMonitor that looks at tensors."""

    def __init__(
        self,
        logger: logging.Logger,
        format_name: Callable[[str], str],
        excluded_regex: str,
        cpu_offload: bool,
    ) -> None:
        super().__init__()
        self.logger = logger
        self.cpu_offload = cpu_offload
        self.storage = StorageManager(logger=logger)
        self.module: Any = None
        self.reference_module: Any = None
        self.module_names: dict[Any, str] = {}
        self.reference_module_names: dict[Any, str] = {}
        self.current_step: int | None = None
        #: Whether a monitored step has begun and not ended.
        self.is_open = False
        self._format = format_name
        self._excluded = re.compile(excluded_regex)
        self._metrics: dict[str, dict[str, Metric]] = {kind: {} for kind in (*ACTIVATION_KINDS, *PARAMETER_KINDS)}
        self._switch = _recorder.Switch()
        self._reference_switch = _recorder.Switch()
        self._updates: list[Updates] = []
        self._targets: dict[tuple[str, str], Target] = {}  # by kind and name
        self._keys: dict[_recorder.Gauge, str] = {}
        self._references: dict[str, list[Any]] = {}  # name -> activations, call by call
        self._warned: set[str] = set()
        self._unmatched = Unmatched(logger)

    def is_monitoring(self) -> bool:
        """Whether a monitored step goes on, and not in no_monitor()."""
        return self._switch.is_on

    # ---- measuring ----

    def monitor_activations(
        self, module: Any, activations: Any, is_reference: bool = False
    ) -> None:
        """Measures a tensor as if the module had returned it. `module` is a module, or any name.
        Those of the reference module are kept for the comparison."""
        is_reference = is_reference or (
            not isinstance(module, str) and module in self.reference_module_names
        )
        if not (self._reference_switch if is_reference else self._switch).is_on:
            return
        name = self.get_module_name(module, is_reference)
        if self._is_excluded(name):
            return
        if is_reference:
            self._keep(name, activations)
        else:
            self._measure(name, activations, True)

    def get_module_name(self, module: Any, is_reference: bool = False) -> str:
        """A module's name; a name as it is."""
        if isinstance(module, str):
            return module
        names = self.reference_module_names if is_reference else self.module_names
        if module not in names:
            raise ValueError(f"Module {type(module).__name__} is no part of the monitored module.")
        return names[module]

    def monitor_parameters(self) -> None:
        """Measures the parameters, and how they differ from the reference module's."""
        if not self.is_monitoring():
            return
        metrics, differences = self._metrics["parameter"], self._metrics["parameter_difference"]
        references: dict[str, Any] = {}
        if differences and self.reference_module is not None:
            references = dict(self._find_parameters(self.reference_module))
        with _no_grad():
            for name, parameter in self._find_parameters(self.module):
                if metrics:
                    target = self._find_target("parameter", name)
                    self._apply(target, f"parameter {name}", parameter)
                if name in references:
                    target = self._find_target("parameter_difference", name)
                    self._compare(target, f"parameter {name}", parameter, references[name])

    def monitor_gradients(self, before_clip: bool = False) -> None:
        """Measures the gradients; those before they are clipped have keys of their own."""
        if not self.is_monitoring() or not self._metrics["gradient"]:
            return
        kind = "gradient_before_clip" if before_clip else "gradient"
        with _no_grad():
            for name, parameter in self._find_parameters(self.module):
                if parameter.grad is not None:
                    target = self._find_target(kind, name)
                    self._apply(target, f"gradient of parameter {name}", parameter.grad)

    def watch_updates(self, optimizer: Any, metric_regex: str = ".*") -> None:
        """`update/{parameter}/norm`, the L2 norm of what each step of the optimizer changes, and
        `update/{parameter}/ratio`, that norm divided by the parameter's own before. On monitored
        steps the parameters are copied for it."""
        from monitorch.monitor._updates import Updates

        matches = re.compile(metric_regex).match

        def find() -> list[tuple[str, Any]]:
            return [pair for pair in self._find_parameters(self.module) if matches(pair[0])]

        self._updates.append(Updates(optimizer, self.is_monitoring, find, self.log_scalar))

    def _find_parameters(self, model: Any) -> Iterator[tuple[str, Any]]:
        for name, parameter in model.named_parameters():
            name = self._format(name)
            if not self._is_excluded(name):
                yield name, parameter

    def _is_excluded(self, name: str) -> bool:
        return self._excluded.match(name) is not None

    def _find_target(self, kind: str, name: str) -> Target:
        target = self._targets.get((kind, name))
        if target is None:
            torch = sys.modules["torch"]
            asked = "gradient" if kind == "gradient_before_clip" else kind
            wanted = [metric for metric in self._metrics[asked].values() if metric.matches(name)]
            target = Target(f"{kind}/{name}", wanted, torch.get_num_threads())
            self._targets[kind, name] = target
            self._keys.update((gauge, target.key) for gauge in target.gauges)
        return target

    def _measure(self, name: str, tensor: Any, with_gauges: bool) -> None:
        """An activation."""
        target = self._find_target("activation", name)
        what = f"activations of module {name}"
        with _no_grad():
            self._apply(target, what, tensor, with_gauges)
            if self.reference_module is not None:
                difference = self._find_target("activation_difference", name)
                kept = self._references.get(name) if difference else None
                if kept:
                    self._compare(difference, what, tensor, kept.pop(0))

    def _apply(self, target: Target, what: str, tensor: Any, with_gauges: bool = True) -> None:
        if with_gauges:
            for gauge in target.gauges:
                reason = gauge.add(tensor)
                if reason is not None:
                    self._tell_unread(gauge, reason, tensor)
        for metric in target.functions:
            value = _metrics.compute(metric, what, tensor)
            self._log(f"{target.key}/{metric.name}", value, metric.aggregation)

    def _compare(self, target: Target, what: str, tensor: Any, reference: Any) -> None:
        if not target:
            return
        if self.cpu_offload:
            tensor = tensor.detach().to("cpu")
        reference = reference.detach().to(tensor.device)
        if target.gauges:
            difference = _subtract(what, tensor.detach(), reference)
            for gauge in target.gauges:
                reason = gauge.add(difference)
                if reason is not None:
                    self._tell_unread(gauge, reason, difference)
        for metric in target.functions:
            value = _metrics.compute(metric, f"{what} and the reference's", tensor, reference)
            self._log(f"{target.key}/{metric.name}", value, metric.aggregation)

    def _keep(self, name: str, tensor: Any) -> None:
        """What the reference module returned: a copy, for it may be written to before it is
        compared."""
        if self._find_target("activation_difference", name):
            kept = tensor.detach()
            kept = (
                kept.to("cpu") if self.cpu_offload and kept.device.type != "cpu" else kept.clone()
            )
            self._references.setdefault(name, []).append(kept)

    def _tell_unread(self, gauge: _recorder.Gauge, reason: str, tensor: Any) -> None:
        """A gauge cannot read the tensor: it is copied from its device, or left out."""
        if not is_tensor(tensor):
            return  # modules that return something else are not measured
        if tensor.device.type not in ("cpu", "meta") and gauge.add(tensor.detach().cpu()) is None:
            return
        key = self._keys.get(gauge, "")
        if key not in self._warned:
            self._warned.add(key)
            self.logger.warning("%s is not measured: %s", key, reason)

    # ---- logging ----

    def log_scalar(
        self,
        key: str,
        value: Any,
        aggregation_fn: Aggregation | None = None,
        force: bool = False,
    ) -> None:
        """Logs a number in the current step, if that is monitored or `force` says so."""
        if self.is_monitoring() or (force and self.current_step is not None):
            assert self.current_step is not None
            self.storage.create_step_entry(self.current_step)
            self.storage.log_scalar(self.current_step, key, value, aggregation_fn)

    def log_scalars(self, monitor_dict: Mapping[str, Any], force: bool = False) -> None:
        for key, value in monitor_dict.items():
            self.log_scalar(key, value, force=force)

    def log_tensor(self, key: str, tensor: Any, aggregation_fn: Aggregation | None = None) -> None:
        """Logs a tensor in the current step, if that is monitored: the mean of its elements, or what
        `aggregation_fn` makes of all tensors of that key in one."""
        if self.is_monitoring():
            self._log(key, tensor, aggregation_fn)

    def _log(self, key: str, value: Any, aggregation: Aggregation | None) -> None:
        assert self.current_step is not None
        if hasattr(value, "detach"):
            self.storage.log_tensor(self.current_step, key, value.detach(), aggregation)
        else:
            self.storage.log_scalar(self.current_step, key, value, aggregation)


def is_tensor(value: Any) -> bool:
    return isinstance(value, sys.modules["torch"].Tensor)


def _no_grad() -> Any:
    return sys.modules["torch"].no_grad()


def _subtract(what: str, tensor: Any, reference: Any) -> Any:
    try:
        return tensor - reference
    except RuntimeError as error:
        raise RuntimeError(
            f"Failed to monitor {what}: {_metrics.describe(tensor)}, and the reference's, "
            f"{_metrics.describe(reference)}: {error}"
        ) from error
