"""Measures and logs activations, parameters, gradients and their differences."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._models import is_tensor
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
    """The part of a ModuleMonitor that reads tensors."""

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
        #: Whether a monitored step is open.
        self.is_open = False
        self._format = format_name
        self._excluded = re.compile(excluded_regex)
        self._metrics: dict[str, dict[str, Metric]] = {
            kind: {} for kind in (*ACTIVATION_KINDS, *PARAMETER_KINDS)
        }
        self._switch = _recorder.Switch()
        self._reference_switch = _recorder.Switch()
        self._updates: list[Updates] = []
        self._targets: dict[tuple[str, str], Target] = {}  # by kind and name
        self._keys: dict[_recorder.Gauge, str] = {}
        self._references: dict[str, list[Any]] = {}  # name -> activations, one for each call
        self._warned: set[str] = set()
        self._unmatched = Unmatched(logger)

    def is_monitoring(self) -> bool:
        """Returns whether a monitored step is open, outside of `no_monitor()`."""
        return self._switch.is_on

    # ---- measuring ----

    def monitor_activations(
        self, module: Any, activations: Any, is_reference: bool = False
    ) -> None:
        """Measures a tensor as if a module had returned it.

        Args:
            module (Module or str): a module, or any name.
            activations (Tensor): the tensor.
            is_reference (bool, optional): keeps the tensor for the comparison instead. Modules of
                the reference module are recognised. Default: ``False``
        """
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
        """Returns a module's name; a string is returned as it is.

        Raises:
            ValueError: if the module is not part of the monitored module.
        """
        if isinstance(module, str):
            return module
        names = self.reference_module_names if is_reference else self.module_names
        if module not in names:
            raise ValueError(f"Module {type(module).__name__} is not part of the monitored module.")
        return names[module]

    def monitor_parameters(self) -> None:
        """Measures the parameters, and their differences from the reference module's."""
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
        """Measures the gradients. Call it after ``backward()``.

        Args:
            before_clip (bool, optional): logs them under ``gradient_before_clip/`` instead of
                ``gradient/``. Default: ``False``
        """
        if not self.is_monitoring() or not self._metrics["gradient"]:
            return
        kind = "gradient_before_clip" if before_clip else "gradient"
        with _no_grad():
            for name, parameter in self._find_parameters(self.module):
                if parameter.grad is not None:
                    target = self._find_target(kind, name)
                    self._apply(target, f"gradient of parameter {name}", parameter.grad)

    def watch_updates(self, optimizer: Any, metric_regex: str = ".*") -> None:
        """Logs how much each step of an optimizer changes each parameter.

        The keys are ``update/{parameter}/norm``, the L2 norm of the change, and
        ``update/{parameter}/ratio``, that norm divided by the norm of the parameter before. On
        monitored steps each such parameter is copied.

        Args:
            optimizer (Optimizer): the optimizer.
            metric_regex (str, optional): selects parameters by name. Default: ``".*"``

        Example::

            >>> monitor.watch_updates(optimizer)
        """
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
        """Measures an activation."""
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
                    self._report_unread(gauge, reason, tensor)
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
                    self._report_unread(gauge, reason, difference)
        for metric in target.functions:
            value = _metrics.compute(metric, f"{what} and the reference", tensor, reference)
            self._log(f"{target.key}/{metric.name}", value, metric.aggregation)

    def _keep(self, name: str, tensor: Any) -> None:
        """Keeps a copy of the reference module's output: the tensor may change later."""
        if self._find_target("activation_difference", name):
            kept = tensor.detach()
            kept = (
                kept.to("cpu") if self.cpu_offload and kept.device.type != "cpu" else kept.clone()
            )
            self._references.setdefault(name, []).append(kept)

    def _report_unread(self, gauge: _recorder.Gauge, reason: str, tensor: Any) -> None:
        """Copies a tensor that a gauge cannot read to the CPU, or warns that it is left out."""
        if not is_tensor(tensor):
            return  # outputs of other types are not measured
        if tensor.device.type not in ("cpu", "meta") and gauge.add(tensor.detach().cpu()) is None:
            return
        key = self._keys.get(gauge, "")
        if key not in self._warned:
            self._warned.add(key)
            self.logger.warning("%s was not measured: %s", key, reason)

    # ---- logging ----

    def log_scalar(
        self,
        key: str,
        value: Any,
        aggregation_fn: Aggregation | None = None,
        force: bool = False,
    ) -> None:
        """Logs a number under any key in the current step.

        Args:
            key (str): the key.
            value (number or Tensor): a number, or a tensor of one element.
            aggregation_fn (callable, optional): receives the list of all numbers of the step.
                Default: the mean
            force (bool, optional): logs on steps that are not monitored too. Default: ``False``
        """
        if self.is_monitoring() or (force and self.current_step is not None):
            assert self.current_step is not None
            self.storage.create_step_entry(self.current_step)
            self.storage.log_scalar(self.current_step, key, value, aggregation_fn)

    def log_scalars(self, monitor_dict: Mapping[str, Any], force: bool = False) -> None:
        """Logs several numbers, ``{key: value}``, in the current step."""
        for key, value in monitor_dict.items():
            self.log_scalar(key, value, force=force)

    def log_tensor(self, key: str, tensor: Any, aggregation_fn: Aggregation | None = None) -> None:
        """Logs a tensor under any key in the current step, if that is monitored.

        Args:
            key (str): the key.
            tensor (Tensor): the tensor. Nothing of it is kept except its sum and count, or a
                copy if there is an `aggregation_fn`.
            aggregation_fn (callable, optional): receives all tensors of the key as one flat tensor.
                Default: the mean of all elements
        """
        if self.is_monitoring():
            self._log(key, tensor, aggregation_fn)

    def _log(self, key: str, value: Any, aggregation: Aggregation | None) -> None:
        assert self.current_step is not None
        if hasattr(value, "detach"):
            self.storage.log_tensor(self.current_step, key, value.detach(), aggregation)
        else:
            self.storage.log_scalar(self.current_step, key, value, aggregation)


def _no_grad() -> Any:
    return sys.modules["torch"].no_grad()


def _subtract(what: str, tensor: Any, reference: Any) -> Any:
    try:
        return tensor - reference
    except RuntimeError as error:
        raise RuntimeError(
            f"Failed to monitor {what}: {_metrics.describe(tensor)}, and the reference, "
            f"{_metrics.describe(reference)}: {error}"
        ) from error
