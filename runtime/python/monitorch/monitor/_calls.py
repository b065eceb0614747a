"""The hooks of a model's modules, which exist on monitored steps only."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._compile import compiled as _compiled
from monitorch._record import observe as _observe
from monitorch.monitor._names import ROOT

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

    from monitorch.monitor._metrics import Target

    Callback = Callable[[Any, Any, Any, Any], None]  # module, args, output, kwargs
    Unread = Callable[[_recorder.Gauge, str, Any], None]


class Calls:
    """Hooks that are added and removed in a few microseconds for a hundred modules.

    torch registers each hook once; its entry is removed from torch's dictionary and put back.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._entries: list[tuple[dict[int, Any], int, Any]] = []  # torch's dictionary, the key, the hook
        self._handles: list[Any] = []
        self._modules: list[tuple[Any, str]] = []
        self._functions: list[Any] = []
        self._observations: list[Any] = []
        self._must_stay = False

    def add(
        self,
        switch: _recorder.Switch,
        module: Any,
        path: str,
        target: Target | None,
        callback: Callback | None,
        unread: Unread,
    ) -> None:
        """Adds a hook that measures the module's output with the target's gauges, and then calls
        `callback(module, args, output, kwargs)`."""
        hook = self.make_probe(switch, module, target, callback, unread).leave
        try:
            handle = module.register_forward_hook(hook, with_kwargs=callback is not None)
        except RuntimeError as error:  # a ScriptModule
            self._logger.warning("Module %s is not monitored: %s", path, error)
            return
        hooks = handle.hooks_dict_ref()
        if not _can_leave_compiled_code():
            _compiled.add_module_hook(hook)
        self._handles.append(handle)
        self._entries.append((hooks, handle.id, hook))
        self._modules.append((module, "root" if path == ROOT else path))
        del hooks[handle.id]

    def make_probe(
        self,
        switch: _recorder.Switch,
        module: Any,
        target: Target | None,
        callback: Callback | None,
        unread: Unread,
    ) -> _recorder.Probe:
        """Makes a probe that measures with the target's gauges."""
        gauges = () if target is None else target.gauges
        self._functions += [callback, unread]
        return _recorder.Probe(
            switch, module, gauges, _weakly(callback), _weakly(unread), find_task()
        )

    def begin(self) -> None:
        """Adds the hooks at the start of a monitored step."""
        if self._entries:
            self._leave_compiled_code()
        for hooks, key, hook in self._entries:
            hooks[key] = hook
        if _recorder.is_recording():
            seen = [_observe.observe(module, path) for module, path in self._modules]
            self._observations = [one for one in seen if one is not None]

    def end(self) -> None:
        """Removes the hooks at the end of the step."""
        for observation in self._observations:
            observation.remove()
        self._observations = []
        if not self._must_stay:
            for hooks, key, _ in self._entries:
                hooks.pop(key, None)
        _eager.end(self)

    def clear(self) -> None:
        """Removes the hooks for good."""
        self._must_stay = False
        self.end()
        self._entries.clear()
        self._handles.clear()
        self._modules.clear()
        self._functions.clear()

    def _leave_compiled_code(self) -> None:
        """Runs the modules themselves on a monitored step, since compiled code ignores new hooks.

        The compiled code is kept for the next step.
        """
        if "torch._dynamo" not in sys.modules or self._must_stay:
            return
        if _can_leave_compiled_code():
            _eager.begin(self)
        else:
            # Before torch 2.6: graphs end at the hooks, which are not removed.
            self._must_stay = True
            _compiled.forget_compiled()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            _eager.end(self)


class _Eager:
    """Suspends compiled code in the whole process, while any monitor requests it.

    A monitor whose step was left by an exception requests it until its next step, or its end.
    """

    def __init__(self) -> None:
        self._holders: set[int] = set()  # by id: a Calls that is freed removes itself
        self._stance: Any = None

    def begin(self, calls: Calls) -> None:
        if not self._holders:
            self._stance = sys.modules["torch"].compiler.set_stance("force_eager")
        self._holders.add(id(calls))

    def end(self, calls: Calls) -> None:
        if id(calls) in self._holders:
            self._holders.discard(id(calls))
            if not self._holders:
                self._stance.__exit__(None, None, None)


_eager = _Eager()


def _can_leave_compiled_code() -> bool:
    return hasattr(getattr(sys.modules.get("torch"), "compiler", None), "set_stance")


def _weakly(function: Callable[..., None] | None) -> Any:
    """Wraps a function weakly: Dynamo keeps hooks for ever, but must not keep monitors."""
    if function is None:
        return None
    is_method = hasattr(function, "__self__")
    find: Any = weakref.WeakMethod(function) if is_method else weakref.ref(function)

    def call(*arguments: Any) -> None:
        found = find()
        if found is not None:
            found(*arguments)

    return call


def find_task() -> Callable[[], int] | None:
    """torch's function that returns the number of the backward pass in this thread, or -1.

    Calls in a backward pass repeat calls that were measured before.
    """
    return getattr(getattr(sys.modules.get("torch"), "_C", None), "_current_graph_task_id", None)
