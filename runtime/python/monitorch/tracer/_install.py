"""The replacements of a traced model's methods, and their removal."""

from __future__ import annotations

import logging
import sys
import types
from typing import TYPE_CHECKING, Any

from monitorch._compile import compiled as _compiled
from monitorch._recorder import OutputHook, TracedMethod

if TYPE_CHECKING:
    from monitorch._recorder import Tracing
    from monitorch.tracer._resolve import Target
    from monitorch.tracker._tracked import Tracked

logger = logging.getLogger("monitorch.tracer")

_MISSING = object()


def same(value: Any) -> Any:
    """Returns its argument. Pickles of a traced method call it."""
    return value


class Installation:
    """The replacements and hooks that one tracer has added to a model; `remove` removes them
    completely."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._places: list[_Place] = []
        self._handles: list[Any] = []
        self._hooks: list[Any] = []

    def add(self, target: Target) -> None:
        if target.method:
            self._places.append(_Place(self._tracing, target))
        else:
            self._add_hook(target)

    def _add_hook(self, target: Target) -> None:
        hook = OutputHook(self._tracing, target.path)
        leave = hook.leave
        try:
            self._handles.append(target.module.register_forward_hook(leave))
        except RuntimeError as error:  # a ScriptModule
            logger.warning("%s is not traced: %s", target.path, error)
            return
        self._hooks.append((hook, leave))  # Dynamo refers weakly to `leave`
        _compiled.add_module_hook(leave)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        for hook, _ in self._hooks:
            hook.release()
        self._hooks.clear()
        while self._places:
            self._places.pop().remove()
        _compiled.forget_compiled()


_stacks: dict[tuple[int, str], list[_Place]] = {}  # the places of a method, the innermost first


def renew(kind: type, name: str) -> None:
    """Updates the traced modules of a class whose function of that name was replaced."""
    for stack in list(_stacks.values()):
        stack[0].renew(kind, name)


class _Place:
    """A module's method and its replacement. Several tracers may replace it, one around the other,
    and end in any order.
    """

    def __init__(self, tracing: Tracing, target: Target) -> None:
        self._module = target.module
        self._name = target.method
        self._key = id(target.module), target.method
        self._found = target.module.__dict__.get(target.method, _MISSING)
        self._path = target.path
        self._has_variables = target.has_variables
        self._tracked: Tracked | None = None
        method = getattr(target.module, target.method)
        code: types.CodeType | None = None
        if target.has_variables:
            method, code = self._compile(method)
        self._code = code
        self._traced = TracedMethod(
            tracing, target.module, target.path, method, code, target.state,
            self._reduce(), target.is_output, target.is_root,
        )  # fmt: skip
        target.module.__dict__[target.method] = self._traced
        _stacks.setdefault(self._key, []).append(self)

    def _reduce(self) -> tuple[Any, ...]:
        """The way to pickle the method: a copy of the model is not traced."""
        stack = _stacks.get(self._key)
        found = stack[0]._found if stack else self._found
        if found is _MISSING:
            return getattr, (self._module, self._name)
        return same, (found,)

    def renew(self, kind: type, name: str) -> None:
        """Makes the innermost place call the present function of its class."""
        if self._name != name or self._found is not _MISSING or not isinstance(self._module, kind):
            return
        method = getattr(type(self._module), name).__get__(self._module)
        if self._has_variables:
            self._release()
            method, _ = self._compile(method)
        self._traced.__wrapped__ = method

    def _release(self) -> None:
        if self._tracked is not None:
            self._tracked.release_lines()
            self._tracked = None

    def _compile(self, method: Any) -> tuple[Any, Any]:
        """Compiles the method so that its lines record. Returns it with its code."""
        from monitorch._compile.function import CannotCompile, compile_function

        outer = method
        below = None
        while isinstance(method, TracedMethod):  # a place of another tracer
            below, method = method, method.__wrapped__
        function = getattr(method, "__func__", method)
        self._tracked = _find_tracked(function)
        if self._tracked is not None:
            return outer, self._tracked.hold_lines()
        try:
            compiled = compile_function(function, every_line=True)
        except CannotCompile as error:
            logger.warning("variables of %s are not traced: %s", self._path, error)
            return outer, None
        if compiled is not function and method is not function:
            method = types.MethodType(compiled, method.__self__)
        elif compiled is not function:
            method = compiled
        if below is not None:
            below.__wrapped__ = method
            method = outer
        code = _find_code(compiled)
        _leave_whole(code, True)
        return method, code

    def remove(self) -> None:
        self._release()
        stack = _stacks[self._key]
        index = stack.index(self)
        if index + 1 < len(stack):
            # Another tracer has replaced this replacement.
            above = stack[index + 1]
            above._found = self._found
            above._traced.__wrapped__ = self._traced.__wrapped__
        elif self._module.__dict__.get(self._name) is self._traced:
            if self._found is _MISSING:
                del self._module.__dict__[self._name]
            else:
                self._module.__dict__[self._name] = self._found
        del stack[index]
        if self._code is not None:
            _leave_whole(self._code, False)
        if not stack:
            del _stacks[self._key]


def _find_tracked(function: Any) -> Tracked | None:
    """The state of a function with a decorator of monitorch.tracker, whose wrapper chooses the
    code."""
    tracked = sys.modules.get("monitorch.tracker._tracked")
    found: Tracked | None = None if tracked is None else tracked.find(function)
    return found


def _find_code(function: Any) -> types.CodeType:
    """The code of the function inside the wrappers, which has the lines."""
    while isinstance(getattr(function, "__wrapped__", None), types.FunctionType):
        function = function.__wrapped__
    code: types.CodeType = function.__code__
    return code


def _leave_whole(code: types.CodeType, is_traced: bool) -> None:
    """Excludes a method whose frames are read from torch.compile, but not the functions that it
    calls."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    change = getattr(dynamo, "skip_code" if is_traced else "reset_code", None)
    if change is not None:
        change(code)
