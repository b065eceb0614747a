"""Modules whose calls are recorded through torch's own hooks.

They are modules whose source is not instrumented. Their calls are in the trace like those of
instrumented forward methods, with inputs and outputs, but without the lines in between.
"""

from __future__ import annotations

import os
import weakref
from types import FunctionType
from typing import Any

_VARIADIC = 0x04  # a flag of code objects: `*args`
_KEYWORDED = 0x08  # `**kwargs`
_NONE_GIVEN: tuple[object, ...] = ((), {})  # the values of these two in a call without any


class Silent:
    """The replacement of an Observer in a module that was pickled."""

    def enter(self, *args: object) -> None:
        pass

    def leave(self, *args: object) -> None:
        pass


class Observation:
    """An observed module. `remove` ends it for this caller of `observe`."""

    def __init__(self, shared: _Shared) -> None:
        self._shared: _Shared | None = shared
        shared.user_count += 1

    def remove(self) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.release()


class _Shared:
    """The hooks of a module, shared by all observations: its calls are recorded once."""

    def __init__(self, module: Any, path: str, function: Any) -> None:
        from monitorch import _recorder
        from monitorch._compile import compiled as _compiled

        self.user_count = 0
        self.module = weakref.ref(module)
        observer = _recorder.Observer(
            _find_place(module, function), path, *_read_parameters(function)
        )
        # The first of all hooks before the call and the last after it: other hooks' actions belong
        # to the call, and the values that they change are recorded.
        enter, leave = observer.enter, observer.leave
        self._handles = (
            module.register_forward_pre_hook(enter, prepend=True, with_kwargs=True),
            module.register_forward_hook(leave),
        )
        _compiled.add_module_hook(enter)
        _compiled.add_module_hook(leave)

    def release(self) -> None:
        self.user_count -= 1
        if self.user_count == 0:
            _remove(self)


_observed: dict[int, _Shared] = {}  # by the module's id
_places: dict[tuple[object, bool], Any] = {}  # by forward, and whether the module has children


def observe(module: Any, path: str) -> Observation | None:
    """Writes the module's calls, under that path, to every recording from now on.

    Returns None if its forward is instrumented or followed: its own sites record the calls.
    """
    function = _find_forward(module)
    if _has_sites(function):
        return None
    key = id(module)
    shared = _observed.get(key)
    if shared is None or shared.module() is not module:
        shared = _observed[key] = _Shared(module, path, function)
        weakref.finalize(module, _forget, key, weakref.ref(shared)).atexit = False
    return Observation(shared)


def _forget(key: int, gone: weakref.ref[_Shared]) -> None:
    if key in _observed and _observed[key] is gone():
        del _observed[key]


def _remove(shared: _Shared) -> None:
    for handle in shared._handles:
        handle.remove()
    for key, other in list(_observed.items()):
        if other is shared:
            del _observed[key]


def _find_forward(module: Any) -> Any:
    """The module's forward, without binding. It may be no Python function."""
    function = module.__dict__.get("forward", getattr(type(module), "forward", None))
    return getattr(function, "__func__", function)


def _has_sites(function: Any) -> bool:
    from monitorch import _registry
    from monitorch._follow import follow as _follow

    if not isinstance(function, FunctionType):
        return False
    if _follow.is_followed(function.__code__, function.__globals__):
        return True
    return any(
        entry.prefix in function.__code__.co_names and entry.is_of(function.__globals__)
        for entry in _registry.entries()
    )


def _read_parameters(
    function: Any,
) -> tuple[tuple[str, ...], tuple[object, ...], int, int, int]:
    """The names, defaults, number of positional parameters, and indices of `*args` and `**kwargs`
    (-1: none).

    A parameter without a default has `...`.
    """
    if not isinstance(function, FunctionType):
        return ("args", "kwargs"), _NONE_GIVEN, 0, 0, 1
    code = function.__code__
    names = list(code.co_varnames[1 : code.co_argcount])
    positional = len(names)
    given = function.__defaults__ or ()
    defaults: list[object] = [...] * positional
    if given and positional:
        defaults[-len(given) :] = given[-positional:]
    by_name = function.__kwdefaults__ or {}
    at = code.co_argcount
    for name in code.co_varnames[at : at + code.co_kwonlyargcount]:
        names.append(name)
        defaults.append(by_name.get(name, ...))
    at += code.co_kwonlyargcount
    stars = [-1, -1]
    for i, flag in enumerate((_VARIADIC, _KEYWORDED)):
        if code.co_flags & flag:
            stars[i] = len(names)
            names.append(code.co_varnames[at])
            defaults.append(_NONE_GIVEN[i])
            at += 1
    return tuple(names), tuple(defaults), positional, stars[0], stars[1]


def _find_place(module: Any, function: Any) -> Any:
    """The place of a forward, shared by the modules that have it."""
    has_children = next(module.children(), None) is not None
    code = function.__code__ if isinstance(function, FunctionType) else type(module)
    key = code, has_children
    if key not in _places:
        _places[key] = _make_place(type(module), function, has_children)
    return _places[key]


def _make_place(kind: type, function: Any, has_children: bool) -> Any:
    from monitorch import _recorder
    from monitorch._record.hooks import clean

    name, line = f"{kind.__qualname__}.forward", 1
    module = kind.__module__
    path = file = f"<{module}>"
    if isinstance(function, FunctionType):
        code = function.__code__
        module = function.__module__ or module
        name, line = _find_name(kind, function), code.co_firstlineno
        file = code.co_filename
        path = shorten(file, module)
    names = _read_parameters(function)[0]
    # A module with children returns what these computed.
    reads = () if has_children else names
    sites = (("enter", line, names, ()), ("return", line, ("",), reads))
    return _recorder.make_place(clean(path), clean(file), clean(module), clean(name), line, sites)


def _find_name(kind: type, function: FunctionType) -> str:
    """The name with the class that defines the forward: `Linear.forward`."""
    for base in kind.__mro__:
        if base.__dict__.get("forward") is function:
            return f"{base.__qualname__}.forward"
    return function.__qualname__


def shorten(file: str, module: str) -> str:
    """`torch/nn/modules/linear.py`, wherever torch is installed; otherwise relative to the current
    folder."""
    tail = module.replace(".", "/")
    for end in (f"{tail}.py", f"{tail}/__init__.py"):
        if file.endswith("/" + end):
            return end
    here = os.getcwd().rstrip("/") + "/"
    return file[len(here) :] if file.startswith(here) else file
