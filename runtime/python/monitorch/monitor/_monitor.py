"""ModuleMonitor: metrics of a model on selected training steps."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._models import is_tensor, list_modules
from monitorch._record import reported as _reported
from monitorch.monitor._alerts import MonitorAlert, Rule
from monitorch.monitor._asked import Asked
from monitorch.monitor._calls import Calls, find_task
from monitorch.monitor._locals import Locals
from monitorch.monitor._measures import ACTIVATION_KINDS, PARAMETER_KINDS
from monitorch.monitor._names import ROOT, format_module_name
from monitorch.monitor.storage import Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from monitorch.monitor._alerts import Action

    MakeHook = Callable[[str, Any], Callable[[Any, Any, Any, Any], None] | None]


class ModuleMonitor(Asked):
    """Measures a model's activations, parameters and gradients on selected training steps.

    A metric is the name of a built-in one (``"std"``, ``"norm"``, ``"nan"``, ...) or a function of
    the tensor, which must not change it. On steps that are not monitored the model has no hooks.

    Args:
        monitor_step_fn (callable, optional): receives a step's number and returns whether to
            monitor it. ``None`` monitors all steps. Default: every 20th step
        format_module_name_fn (callable, optional): maps a name of ``named_modules()`` to the name
            in keys. The default removes ``_orig_mod.``, ``_fsdp_wrapped_module.`` and
            ``_forward_module.``, and names the model ``[root module]``
        excluded_modules_regex (str, optional): modules and parameters whose names match it are
            left out. Default: nothing
        logger (logging.Logger, optional): receives warnings. Default:
            ``logging.getLogger("monitorch.monitor")``
        cpu_offload (bool, optional): if ``True``, copies of the reference module's activations
            are kept in the CPU's memory. Default: ``False``
        containers (bool, optional): if ``True``, also measures the tensors in tuples, lists and
            dicts that modules return: ``activation/lstm[0]/std``. Default: ``False``

    Attributes:
        storage (StorageManager): all metrics.
        module, reference_module (Module or None): the models.
        module_names (dict[Module, str]): the names of the modules.
        current_step (int or None): the last step that began.
        is_stopped (bool): whether an alert with ``action="stop"`` was raised.

    Example::

        >>> monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 10 == 0)
        >>> monitor.set_module(model)
        >>> monitor.add_activation_metric("std", "std")
        >>> monitor.add_gradient_metric("norm", lambda gradient: gradient.norm())
        >>> for step, (inputs, targets) in enumerate(batches):
        ...     monitor.begin_step(step)
        ...     criterion(model(inputs), targets).backward()
        ...     monitor.monitor_gradients()
        ...     optimizer.step()
        ...     optimizer.zero_grad()
        ...     monitor.end_step()
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
        super().__init__(
            logger if logger is not None else logging.getLogger("monitorch.monitor"),
            format_module_name_fn,
            excluded_modules_regex,
            cpu_offload,
        )
        #: Whether an alert with action="stop" has fired.
        self.is_stopped = False
        self._monitor_step_fn = monitor_step_fn
        self._containers = containers
        self._calls = Calls(self.logger)
        self._locals = self._make_locals()
        self._hook_makers: list[tuple[MakeHook, bool]] = []
        self._step_ends: list[Callable[[], None]] = []
        self._rules: list[Rule] = []

    # ---- models ----

    def set_module(self, module: Any) -> None:
        """Sets the model to monitor. May be called once.

        Args:
            module (Module): the model.

        Raises:
            ValueError: if `module` is ``None``, or a module has been set already.
        """
        if module is None:
            raise ValueError("Module cannot be None: expected the module to monitor.")
        if self.module is not None:
            raise ValueError("Module has already been set.")
        self.module = module
        self.module_names = self._name_modules(module)
        self._link(self.module_names, False)
        self._check_parameters(PARAMETER_KINDS)
        self._renew()

    def set_reference_module(self, module: Any) -> None:
        """Sets the model to compare with.

        Args:
            module (Module or None): a model whose modules have the same names; ``None`` removes the
                reference.

        Raises:
            ValueError: if there is no monitored module yet, or the names differ.

        Example::

            >>> monitor.set_reference_module(copy.deepcopy(model))
        """
        if module is None:
            self.remove_reference_module()
            return
        if self.module is None:
            raise ValueError("Set the module to monitor before the reference module.")
        names = self._name_modules(module)
        if set(names.values()) != set(self.module_names.values()):
            different = sorted(set(names.values()) ^ set(self.module_names.values()))
            raise ValueError(
                "The reference module has other module names than the monitored one: "
                f"{', '.join(different[:5])}"
            )
        self.remove_reference_module()
        self.reference_module = module
        self.reference_module_names = names
        self._link(names, True)
        self._renew()

    def has_reference_module(self) -> bool:
        """Returns whether a reference module is set."""
        return self.reference_module is not None

    def remove_reference_module(self) -> None:
        """Removes the reference module, if there is one."""
        if self.reference_module is not None:
            self._unlink(self.reference_module_names)
            self.reference_module = None
            self.reference_module_names = {}
            self._references.clear()
            self._renew()

    def close(self) -> None:
        """Removes all hooks of this monitor and closes its sinks. The metrics stay."""
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
        return {module: self._format(name) for name, module in list_modules(model)}

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

    def __repr__(self) -> str:
        of = "no module yet" if self.module is None else type(self.module).__name__
        count = sum(map(len, self._metrics.values()))
        if self.current_step is None:
            step = "no step yet"
        else:
            step = f"step {self.current_step}, {len(self.get_step_metrics()):,} values in it"
        return f"<monitorch ModuleMonitor of {of}, {count} metrics, {step}>"

    # ---- steps ----

    def is_step_monitored(self, step: int) -> bool:
        """Returns whether `monitor_step_fn` selects the step."""
        return self._monitor_step_fn is None or bool(self._monitor_step_fn(step))

    def begin_step(self, step: int) -> bool:
        """Begins a training step. A step that is still open ends first.

        Args:
            step (int): the step's number.

        Returns:
            bool: whether the step is monitored.

        Raises:
            ValueError: if the number is smaller than that of the step before, or the step is
                monitored and no module is set.
        """
        if self.current_step is not None and step < self.current_step:
            raise ValueError(
                f"Step {step} is smaller than the current step {self.current_step}: "
                "step numbers must not decrease."
            )
        is_monitored = self.is_step_monitored(step)
        if is_monitored and self.module is None:
            raise ValueError("Set the module to monitor before a monitored step begins.")
        if self.is_open and step == self.current_step:
            return True
        self.end_step()
        self.current_step = step
        if is_monitored:
            self._open(step)
        return is_monitored

    def end_step(self) -> None:
        """Ends the step: aggregates its metrics, writes them to the sinks and checks the alerts.

        Raises:
            MonitorAlert: if a metric fulfils an alert with ``action="raise"``.
            RuntimeError: if an aggregation function raised. The other metrics are kept.
        """
        if self.current_step is None:
            return
        if not self.is_open:
            self._end_forced(self.current_step)
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
        self._warn_of_unmatched(self.current_step)
        self._report(self.current_step)

    def _warn_of_unmatched(self, step: int) -> None:
        for kind in ACTIVATION_KINDS:
            metrics = [metric for metric in self._metrics[kind].values() if not metric.has_match]
            if metrics:
                given = [name for known, name in self._targets if known == kind]
                modules = {m: n for m, n in self.module_names.items() if not self._is_excluded(n)}
                self._unmatched.check_activations(step, metrics, modules, given)
        rules = [rule for rule in self._rules if not rule.has_match]
        if rules:
            keys = self.storage.get_step_metrics(step)
            self._unmatched.check_rules(step, rules, keys)

    def _end_forced(self, step: int) -> None:
        """Ends a step that is not monitored and has values that were logged with `force`."""
        if self.storage.is_open(step):
            self.storage.aggregate_step(step)
            self._report(step)

    def after_micro_batch(self) -> None:
        """Discards the activations of the reference module. Call it after each micro-batch."""
        self._references.clear()
        for function in self._step_ends:
            function()

    @contextmanager
    def no_monitor(self) -> Iterator[None]:
        """Context manager in which nothing is logged.

        Activations of the reference module are still kept for the comparison, so run the reference
        module in it, before the monitored one.

        Example::

            >>> with monitor.no_monitor():
            ...     reference(inputs)
            >>> model(inputs)
        """
        was_on = self._switch.is_on
        self._switch.is_on = False
        try:
            yield
        finally:
            self._switch.is_on = was_on and self.is_open

    @contextmanager
    def no_reference(self) -> Iterator[None]:
        """Context manager in which nothing is logged, and nothing of the reference module is kept.

        Use it to run the reference module for another purpose than the comparison.
        """
        was_on = self._reference_switch.is_on
        self._reference_switch.is_on = False
        try:
            with self.no_monitor():
                yield
        finally:
            self._reference_switch.is_on = was_on and self.is_open

    def get_step_metrics(self) -> dict[str, float]:
        """Returns the current step's metrics as ``{key: value}``."""
        if self.current_step is None:
            return {}
        return self.storage.get_step_metrics(self.current_step)

    def get_step_histograms(self) -> dict[str, Histogram]:
        """Returns the current step's histograms, of ``"hist"`` metrics, as ``{key: Histogram}``."""
        if self.current_step is None:
            return {}
        return self.storage.get_step_histograms(self.current_step)

    def get_all_metrics(self) -> dict[int, dict[str, float]]:
        """Returns the metrics of all steps as ``{step: {key: value}}``."""
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

    def _report(self, step: int) -> None:
        """Writes to the sinks, then checks the alerts, so that one that raises loses no metrics."""
        metrics = self.storage.get_step_metrics(step)
        self.write_sinks(step, metrics, self.storage.get_step_histograms(step), self.logger)
        if _recorder.is_recording():
            _reported.report(ModuleMonitor.end_step, metrics)
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
        """Adds a hook to each module, which runs after its forward on monitored steps.

        Hooks of the reference module run in `no_monitor()` too. Calls that a backward pass repeats
        (activation checkpointing) are left out.

        Args:
            make_hook (callable): ``make_hook(name, module)`` returns the hook, a function of
                ``(module, args, output, kwargs)``, or ``None``.
            is_reference (bool, optional): adds them to the reference module. Default: ``False``
        """
        self._hook_makers.append((make_hook, is_reference))
        self._renew()

    def add_step_end(self, function: Callable[[], None]) -> None:
        """Adds a function that `end_step` of monitored steps and `after_micro_batch` call."""
        self._step_ends.append(function)

    def _prepare(self) -> None:
        self._calls.clear()
        self._targets.clear()
        self._keys.clear()
        self._locals = self._make_locals()
        self._prepare_hooks(self.module_names, False)
        self._prepare_hooks(self.reference_module_names, True)
        self._is_stale = False

    def _make_locals(self) -> Locals:
        return Locals(
            self._is_local_wanted, self._measure_local, self._make_local_probe, self.logger
        )

    def _prepare_hooks(self, names: dict[Any, str], is_reference: bool) -> None:
        inner = _inner_of_wrappers(names)
        for module, name in names.items():
            if module in inner:
                continue  # its wrapper has the same name, and returns the same value
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
        callback = (
            self._make_callback(name, wants, others, is_reference) if wants or others else None
        )
        switch = self._reference_switch if is_reference else self._switch
        self._calls.add(switch, module, name, target, callback, self._report_unread)

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
        """Measures the output of a module."""
        if is_tensor(output):
            if is_reference:
                self._keep(name, output)
            else:
                self._measure(name, output, False)  # the hook has measured it with the gauges
        elif self._containers:
            from monitorch.spy._leaves import find_leaves

            for path, leaf in find_leaves(output):
                if is_reference:
                    self._keep(name + path, leaf)
                else:
                    self._measure(name + path, leaf, True)

    # ---- locals ----

    def _has_local_metrics(self) -> bool:
        kinds = "activation", "activation_difference"
        return any(m.names_locals for kind in kinds for m in self._metrics[kind].values())

    def _is_local_wanted(self, name: str) -> bool:
        kinds = "activation", "activation_difference"
        return not self._is_excluded(name) and any(
            metric.matches(name) for kind in kinds for metric in self._metrics[kind].values()
        )

    def _make_local_probe(self, name: str, is_reference: bool) -> _recorder.Probe | None:
        """Makes a probe that measures a variable in C; None if there are metrics other than
        gauges."""
        target = self._find_target("activation", name)
        if is_reference or self.reference_module is not None or target.functions:
            return None
        return self._calls.make_probe(self._switch, None, target, None, self._report_unread)

    def _measure_local(self, name: str, value: Any, is_reference: bool) -> None:
        task = find_task()
        if task is not None and task() != -1:
            return  # a backward pass computes it again
        if not (self._reference_switch if is_reference else self._switch).is_on:
            return
        if is_reference:
            if is_tensor(value):
                self._keep(name, value)
        elif is_tensor(value):
            self._measure(name, value, True)

    # ---- alerts ----

    def alert(self, condition: str, action: Action = "raise") -> None:
        """Adds a condition on metrics, which `end_step` checks on each monitored step.

        Args:
            condition (str): a glob over keys, one of ``> < >= <= == !=``, and a number.
            action (str or callable, optional): ``"raise"`` raises `MonitorAlert`; ``"stop"`` sets
                `is_stopped` and logs a warning; a function is called with the `MonitorAlert`.
                Default: ``"raise"``

        Raises:
            ValueError: if the condition or the action has no such form.

        Example::

            >>> monitor.alert("activation/*/nan > 0")
            >>> monitor.alert("gradient/*/norm > 1e3", action=print)
            >>> monitor.alert("loss == nan", action="stop")
        """
        self._rules.append(Rule(condition, action))


def _inner_of_wrappers(names: dict[Any, str]) -> set[Any]:
    """Returns modules with the same name as another module, which holds and calls them."""
    first: dict[str, Any] = {}
    inner = set()
    for module, name in names.items():
        if name == ROOT and name in first:
            inner.add(module)
        first.setdefault(name, module)
    return inner
