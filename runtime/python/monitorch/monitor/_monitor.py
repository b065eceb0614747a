"""ModuleMonitor: metrics of a model while it trains, on the steps that are monitored."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch.monitor import _metrics
from monitorch.monitor._alerts import MonitorAlert, Rule
from monitorch.monitor._calls import Calls, find_task
from monitorch.monitor._locals import Locals
from monitorch.monitor._metrics import Metric, Target
from monitorch.monitor._names import ROOT, format_module_name
from monitorch.monitor._sinks import Sinks
from monitorch.monitor.storage import Histogram, StorageManager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from monitorch.monitor._alerts import Action
    from monitorch.monitor._metrics import Aggregation, Function
    from monitorch.monitor._updates import Updates

    MakeHook = Callable[[str, Any], Callable[[Any, Any, Any, Any], None] | None]


class ModuleMonitor(Sinks):
    """Metrics of a model's activations, parameters and gradients, on the steps that
    `monitor_step_fn` says.

        monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 10 == 0)
        monitor.set_module(model)
        monitor.add_activation_metric("std", "std")
        monitor.add_gradient_metric("norm", lambda gradient: gradient.norm())

    A metric is a function of the tensor itself, which it must not change, or one of the built-in
    ones by name. Where a step is not monitored, the model has no hooks.

    With `containers`, modules that return tuples, lists or dicts of tensors are measured too, leaf
    by leaf: `activation/lstm[0]/std`. With `cpu_offload`, what is kept of the reference module is
    kept in the CPU's memory, and compared there.
    """

    def __init__(
        self,
        monitor_step_fn: Callable[[int], bool] | None = lambda step: step % 20 == 0,
        format_module_name_fn: Callable[[str], str] = format_module_name,
        excluded_modules_regex: str = "$.^",
        logger: logging.Logger | None = None,
        cpu_offload: bool = False,
        *,
        containers: bool = False,
    ) -> None:
        super().__init__()
        self.logger = logger if logger is not None else logging.getLogger("monitorch.monitor")
        self.cpu_offload = cpu_offload
        self.storage = StorageManager(logger=self.logger)
        self.module: Any = None
        self.reference_module: Any = None
        self.module_names: dict[Any, str] = {}
        self.reference_module_names: dict[Any, str] = {}
        self.current_step: int | None = None
        #: Whether a monitored step has begun and not ended.
        self.is_open = False
        #: Whether an alert with action="stop" was met.
        self.is_stopped = False
        self._monitor_step_fn = monitor_step_fn
        self._format = format_module_name_fn
        self._excluded = re.compile(excluded_modules_regex)
        self._containers = containers
        self._metrics: dict[str, dict[str, Metric]] = {
            kind: {}
            for kind in (
                "activation", "activation_difference", "parameter", "parameter_difference",
                "gradient",
            )
        }  # fmt: skip
        self._switch = _recorder.Switch()
        self._reference_switch = _recorder.Switch()
        self._calls = Calls(self.logger)
        self._locals = self._make_locals()
        self._is_stale = True  # hooks and locals are not yet those of the metrics
        self._hook_makers: list[tuple[MakeHook, bool]] = []
        self._step_ends: list[Callable[[], None]] = []
        self._targets: dict[tuple[str, str], Target] = {}  # by kind and name
        self._keys: dict[_recorder.Gauge, str] = {}
        self._references: dict[str, list[Any]] = {}  # name -> activations, call by call
        self._warned: set[str] = set()
        self._rules: list[Rule] = []
        self._updates: list[Updates] = []

    # ---- metrics ----

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
        self._add("activation", "Activation metric", metric)

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
        self._add("activation_difference", "Activation difference metric", metric)

    def add_parameter_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """`parameter/{parameter}/{metric_name}`, by monitor_parameters()."""
        metric = Metric(metric_name, metric_fn, metric_regex, None, axis)
        self._add("parameter", "Parameter metric", metric)

    def add_parameter_difference_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """`parameter_difference/{parameter}/{metric_name}`, by monitor_parameters()."""
        metric = Metric(metric_name, metric_fn, metric_regex, None, axis)
        self._add("parameter_difference", "Parameter difference metric", metric)

    def add_gradient_metric(
        self,
        metric_name: str,
        metric_fn: Function,
        metric_regex: str = ".*",
        *,
        axis: int | None = None,
    ) -> None:
        """`gradient/{parameter}/{metric_name}`, by monitor_gradients()."""
        metric = Metric(metric_name, metric_fn, metric_regex, None, axis)
        self._add("gradient", "Gradient metric", metric)

    def _add(self, kind: str, what: str, metric: Metric) -> None:
        if metric.name in self._metrics[kind]:
            raise ValueError(f"{what} {metric.name} already exists.")
        self._metrics[kind][metric.name] = metric
        self._renew()

    # ---- models ----

    def set_module(self, module: Any) -> None:
        """The model to monitor: once."""
        if module is None:
            raise ValueError("Module cannot be None: expected the module to monitor.")
        if self.module is not None:
            raise ValueError("Module has already been set.")
        self.module = module
        self.module_names = self._name_modules(module)
        self._link(self.module_names, False)
        self._renew()

    def set_reference_module(self, module: Any) -> None:
        """The model to compare with, which has modules of the same names; None: there is none any
        more."""
        if module is None:
            self.remove_reference_module()
            return
        if self.module is None:
            raise ValueError("Set the module to monitor before the reference module.")
        names = self._name_modules(module)
        if set(names.values()) != set(self.module_names.values()):
            different = sorted(set(names.values()) ^ set(self.module_names.values()))
            raise ValueError(
                "The reference module has modules of other names than the monitored one: "
                f"{', '.join(different[:5])}"
            )
        self.remove_reference_module()
        self.reference_module = module
        self.reference_module_names = names
        self._link(names, True)
        self._renew()

    def has_reference_module(self) -> bool:
        return self.reference_module is not None

    def remove_reference_module(self) -> None:
        """Compares with nothing from now on."""
        if self.reference_module is not None:
            self._unlink(self.reference_module_names)
            self.reference_module = None
            self.reference_module_names = {}
            self._references.clear()
            self._renew()

    def close(self) -> None:
        """Takes away every hook that this monitor has anywhere, and closes its sinks. What was
        measured stays."""
        if self.is_open:
            self.end_step()
        self._calls.clear()
        for updates in self._updates:
            updates.remove()
        self._updates.clear()
        self._unlink(self.module_names)
        self._unlink(self.reference_module_names)
        self._is_stale = True
        self.close_sinks()

    def _name_modules(self, model: Any) -> dict[Any, str]:
        return {module: self._format(name) for name, module in model.named_modules()}

    def _link(self, names: dict[Any, str], is_reference: bool) -> None:
        for module in names:
            set_monitor = getattr(module, "set_module_monitor", None)
            if callable(set_monitor):
                set_monitor(self, is_reference)

    def _unlink(self, names: dict[Any, str]) -> None:
        for module in names:
            set_monitor = getattr(module, "set_module_monitor", None)
            if callable(set_monitor):
                set_monitor(None)

    # ---- steps ----

    def is_step_monitored(self, step: int) -> bool:
        return self._monitor_step_fn is None or bool(self._monitor_step_fn(step))

    def is_monitoring(self) -> bool:
        """Whether a monitored step goes on, and not in no_monitor()."""
        return self._switch.is_on

    def begin_step(self, step: int) -> bool:
        """Whether the step is monitored. A step that was not ended ends."""
        if self.current_step is not None and step < self.current_step:
            raise ValueError(
                f"Step {step} is smaller than the current step {self.current_step}: steps ascend."
            )
        is_monitored = self.is_step_monitored(step)
        if is_monitored and self.module is None:
            raise ValueError("Set the module to monitor before a monitored step begins.")
        if self.is_open and step == self.current_step:
            return True
        if self.is_open:
            self.end_step()
        self.current_step = step
        if is_monitored:
            self._open(step)
        return is_monitored

    def end_step(self) -> None:
        """Makes one number of all that was logged under each key in the step."""
        if not self.is_open or self.current_step is None:
            return
        self._shut()
        metrics: dict[str, float] = {}
        bins: dict[str, tuple[int, ...]] = {}
        for gauge in self._keys:
            gauge.collect(metrics, bins)
        self.storage.put_metrics(self.current_step, metrics)
        edges = _recorder.GAUGE_EDGES
        histograms = {key: Histogram(counts, edges) for key, counts in bins.items()}
        if histograms:
            self.storage.put_histograms(self.current_step, histograms)
        self.storage.aggregate_step(self.current_step)
        self._tell(self.current_step)

    def after_micro_batch(self) -> None:
        """Lets go of what was kept of the reference module for the micro-batch that ends."""
        self._references.clear()
        for function in self._step_ends:
            function()

    @contextmanager
    def no_monitor(self) -> Iterator[None]:
        """Nothing is logged in it; but what the reference module returns is kept for the
        comparison."""
        was_on = self._switch.is_on
        self._switch.is_on = False
        try:
            yield
        finally:
            self._switch.is_on = was_on and self.is_open

    @contextmanager
    def no_reference(self) -> Iterator[None]:
        """The reference module runs in it for other reasons than to be compared with: nothing is
        logged, and nothing is kept of it."""
        was_on = self._reference_switch.is_on
        self._reference_switch.is_on = False
        try:
            with self.no_monitor():
                yield
        finally:
            self._reference_switch.is_on = was_on and self.is_open

    def get_step_metrics(self) -> dict[str, float]:
        """{key: value} of the current step."""
        if self.current_step is None:
            return {}
        return self.storage.get_step_metrics(self.current_step)

    def get_step_histograms(self) -> dict[str, Histogram]:
        """{key: Histogram} of the current step, of metrics that are "hist"."""
        if self.current_step is None:
            return {}
        return self.storage.get_step_histograms(self.current_step)

    def get_all_metrics(self) -> dict[int, dict[str, float]]:
        """{step: {key: value}}."""
        return self.storage.get_all_metrics()

    def _open(self, step: int) -> None:
        self.storage.create_step_entry(step)
        if self._is_stale:
            self._prepare()
        self.is_open = True
        self._switch.is_on = self._reference_switch.is_on = True
        self._calls.begin()
        self._locals.begin()

    def _shut(self) -> None:
        self._locals.end()
        self._calls.end()
        self._switch.is_on = self._reference_switch.is_on = False
        self.is_open = False
        self.after_micro_batch()

    def _tell(self, step: int) -> None:
        """Sinks first: what raises must not keep the metrics from them."""
        metrics = self.storage.get_step_metrics(step)
        self.write_sinks(step, metrics, self.storage.get_step_histograms(step), self.logger)
        for rule in self._rules:
            found = rule.find(metrics)
            if found:
                self._act(rule, MonitorAlert(rule.condition, step, found))

    def _act(self, rule: Rule, alert: MonitorAlert) -> None:
        if rule.action == "raise":
            raise alert
        if rule.action == "stop":
            self.is_stopped = True
            self.logger.warning("%s", alert)
        elif callable(rule.action):
            rule.action(alert)

    # ---- hooks ----

    def add_forward_hooks(self, make_hook: MakeHook, is_reference: bool = False) -> None:
        """For each module, `make_hook(name, module)` gives the function that is called with (module,
        args, output, kwargs) after its forward on monitored steps, or None. Those of the reference module
        are called in no_monitor() too, those of the module are not. Calls that a backward pass
        makes again are left out."""
        self._hook_makers.append((make_hook, is_reference))
        self._renew()

    def add_step_end(self, function: Callable[[], None]) -> None:
        """Called at the end of each monitored step and by after_micro_batch."""
        self._step_ends.append(function)

    def _renew(self) -> None:
        """Metrics or models are others than before, from the next monitored step on."""
        self._is_stale = True

    def _prepare(self) -> None:
        self._calls.clear()
        self._targets.clear()
        self._keys.clear()
        self._locals = self._make_locals()
        self._prepare_hooks(self.module_names, False)
        self._prepare_hooks(self.reference_module_names, True)
        self._is_stale = False

    def _make_locals(self) -> Locals:
        return Locals(self._is_local_wanted, self._measure_local, self.logger)

    def _prepare_hooks(self, names: dict[Any, str], is_reference: bool) -> None:
        inner = _inner_of_wrappers(names)
        for module, name in names.items():
            if module in inner:
                continue  # its wrapper goes by the same name, and returns the same
            makers = [make for make, of in self._hook_makers if of == is_reference]
            made = [make(name, module) for make in makers]
            others = [hook for hook in made if hook is not None]
            self._prepare_hook(module, name, others, is_reference)
        if self._has_local_metrics():
            self._locals.add(names, is_reference)

    def _prepare_hook(
        self, module: Any, name: str, others: list[Callable[..., None]], is_reference: bool
    ) -> None:
        target = None
        wants = False
        if not self._is_excluded(name):
            has_difference = bool(self._find_target("activation_difference", name))
            if is_reference:
                wants = has_difference
            else:
                target = self._find_target("activation", name)
                wants = bool(target.functions or has_difference or (self._containers and target))
        if not (wants or others or target):
            return
        callback = self._make_callback(name, wants, others, is_reference) if wants or others else None
        switch = self._reference_switch if is_reference else self._switch
        self._calls.add(switch, module, name, target, callback, self._tell_unread)

    def _make_callback(
        self, name: str, wants: bool, others: list[Callable[..., None]], is_reference: bool
    ) -> Callable[[Any, Any, Any, Any], None]:
        def visit(module: Any, args: Any, output: Any, kwargs: Any) -> None:
            if wants:
                self._visit(name, output, is_reference)
            for other in others:
                other(module, args, output, kwargs)

        return visit

    def _visit(self, name: str, output: Any, is_reference: bool) -> None:
        """A module has returned this."""
        if _is_tensor(output):
            if is_reference:
                self._keep(name, output)
            else:
                self._measure(name, output, False)  # its hook has, as far as gauges go
        elif self._containers:
            from monitorch.spy._leaves import find_leaves

            for path, leaf in find_leaves(output):
                if is_reference:
                    self._keep(name + path, leaf)
                else:
                    self._measure(name + path, leaf, True)

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
            import torch

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
            kept = kept.to("cpu") if self.cpu_offload and kept.device.type != "cpu" else kept.clone()
            self._references.setdefault(name, []).append(kept)

    def _tell_unread(self, gauge: _recorder.Gauge, reason: str, tensor: Any) -> None:
        """A gauge cannot read the tensor: it is copied from its device, or left out."""
        if not _is_tensor(tensor):
            return  # modules that return something else are not measured
        if tensor.device.type not in ("cpu", "meta") and gauge.add(tensor.detach().cpu()) is None:
            return
        key = self._keys.get(gauge, "")
        if key not in self._warned:
            self._warned.add(key)
            self.logger.warning("%s is not measured: %s", key, reason)

    # ---- locals ----

    def _has_local_metrics(self) -> bool:
        kinds = "activation", "activation_difference"
        return any(m.names_locals for kind in kinds for m in self._metrics[kind].values())

    def _is_local_wanted(self, name: str) -> bool:
        kinds = "activation", "activation_difference"
        return not self._is_excluded(name) and any(
            metric.matches(name) for kind in kinds for metric in self._metrics[kind].values()
        )

    def _measure_local(self, name: str, value: Any, is_reference: bool) -> None:
        task = find_task()
        if task is not None and task() != -1:
            return  # a backward pass computes it again
        if not (self._reference_switch if is_reference else self._switch).is_on:
            return
        if is_reference:
            if _is_tensor(value):
                self._keep(name, value)
        elif _is_tensor(value):
            self._measure(name, value, True)

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

    def log_tensor(
        self, key: str, tensor: Any, aggregation_fn: Aggregation | None = None
    ) -> None:
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

    # ---- alerts ----

    def alert(self, condition: str, action: Action = "raise") -> None:
        """At the end of a monitored step in which a metric meets the condition, such as
        "activation/*/nan > 0": "raise" raises MonitorAlert there, "stop" sets `is_stopped`, and a
        function is called with the MonitorAlert."""
        self._rules.append(Rule(condition, action))


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _no_grad() -> Any:
    import torch

    return torch.no_grad()


def _subtract(what: str, tensor: Any, reference: Any) -> Any:
    try:
        return tensor - reference
    except RuntimeError as error:
        raise RuntimeError(
            f"Failed to monitor {what}: {_metrics.describe(tensor)}, and the reference's, "
            f"{_metrics.describe(reference)}: {error}"
        ) from error


def _inner_of_wrappers(names: dict[Any, str]) -> set[Any]:
    """Modules that go by the name of another one, which holds and calls them."""
    first: dict[str, Any] = {}
    inner = set()
    for module, name in names.items():
        if name == ROOT and name in first:
            inner.add(module)
        first.setdefault(name, module)
    return inner
