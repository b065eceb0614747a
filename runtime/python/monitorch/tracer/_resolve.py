"""The matches of paths in a model: modules whose outputs are wanted, and methods whose variables
are wanted."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any, NamedTuple

from monitorch import _nearest
from monitorch._models import is_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from monitorch._recorder import Tracing

_START = 1
_FORWARD = "forward"


class Target(NamedTuple):
    """A module's output if `method` is empty, else a method."""

    module: Any
    path: str
    method: str
    state: int  # after the method's name
    is_output: bool  # whether the method's result is wanted
    has_variables: bool
    is_root: bool  # whether it is the model's forward, which counts iterations


class _Failure(NamedTuple):
    """The place where a path ended without a match."""

    depth: int
    where: str
    names: set[str]


class Resolver:
    """Finds the possible matches of a Tracing's paths in a model, in its present state."""

    def __init__(self, tracing: Tracing, model: Any, paths: tuple[str, ...]) -> None:
        self._tracing = tracing
        self._model = model
        self._paths = paths
        self._matched: set[int] = set()
        self._failures: dict[int, _Failure] = {}
        self._targets: list[Target] = []

    def find_targets(self) -> list[Target]:
        """All targets. The model's own forward is always included, as the first."""
        self._visit(self._model, "", _START)
        found = [target for target in self._targets if not target.is_root]
        roots = [target for target in self._targets if target.is_root]
        root = Target(self._model, _FORWARD, _FORWARD, 0, False, False, True)
        return [*(roots or [root]), *found]

    def find_unmatched(self) -> Iterator[str]:
        """Yields the reason for each path that can match nothing. Call it after find_targets."""
        for number, path in enumerate(self._paths):
            if number not in self._matched:
                yield self._explain(number, path)

    # ---- modules ----

    def _visit(self, module: Any, path: str, state: int) -> None:
        waiting = [item for item in self._tracing.waiting(state) if item[2] is not None]
        if not waiting:
            return
        children = {
            name: child for name, child in module._modules.items() if child is not None
        }
        methods = [name for name in _list_methods(module, waiting) if name not in children]
        where = path or type(module).__name__
        self._note(waiting, where, {*children, *_list_own_methods(module)})
        for name, child in children.items():
            below = self._tracing.step(state, name)
            if below:
                self._add_module(child, self._tracing.join(path, name), below)
        for name in methods:
            below = self._tracing.step(state, name)
            if below:
                self._add_method(module, self._tracing.join(path, name), name, below)

    def _add_module(self, module: Any, path: str, state: int) -> None:
        ends = [item for item in self._tracing.waiting(state) if item[2] is None]
        if ends:
            self._matched.update(item[0] for item in ends)
            self._targets.append(Target(module, path, "", state, True, False, False))
        self._visit(module, path, state)

    # ---- methods ----

    def _add_method(self, module: Any, path: str, name: str, state: int) -> None:
        waiting = self._tracing.waiting(state)
        # A star at the end matches modules.
        ends = [item for item in waiting if item[2] is None and item[4] is not None]
        more = [item for item in waiting if item[2] is not None]
        self._matched.update(item[0] for item in ends)
        function = _find_function(module, name)
        has_variables = False
        if more and function is not None:
            has_variables = self._resolve_variables(module, path, function, state, more)
        if ends or has_variables:
            is_root = module is self._model and name == _FORWARD
            self._targets.append(
                Target(module, path, name, state, bool(ends), has_variables, is_root)
            )

    def _resolve_variables(
        self, module: Any, path: str, function: Any, state: int, waiting: list[Any]
    ) -> bool:
        code = function.__code__
        names = (*code.co_varnames, *code.co_cellvars)
        where = path if "." in path else f"{type(module).__name__}.{path}"
        self._note(waiting, where, set(names))
        is_found = False
        for index, name in enumerate(dict.fromkeys(names)):
            below = self._tracing.step(state, name)
            if not below:
                continue
            is_found = True
            if index == 0 and code.co_argcount > 0 and _holds(module, name, function):
                self._resolve_items(module, self._tracing.join(path, name), below)
            else:
                self._matched.update(item[0] for item in self._tracing.waiting(below))
        return is_found

    def _resolve_items(self, value: Any, path: str, state: int) -> None:
        """Follows a path after `self`: modules now, the rest when the method runs."""
        waiting = self._tracing.waiting(state)
        self._matched.update(item[0] for item in waiting if item[2] is None)
        more = [item for item in waiting if item[2] is not None]
        if not is_module(value):
            self._matched.update(item[0] for item in more)
        elif more:
            names = _list_attributes(value)
            self._note(more, path, names)
            for name in sorted(names):
                below = self._tracing.step(state, name)
                if below:
                    self._resolve_items(
                        _peek(value, name), self._tracing.join(path, name), below
                    )

    # ---- paths that match nothing ----

    def _note(self, waiting: Iterable[Any], where: str, names: set[str]) -> None:
        for number, depth, *_ in waiting:
            known = self._failures.get(number)
            if known is None or known.depth < depth:
                self._failures[number] = _Failure(depth, where, set(names))
            elif known.depth == depth:
                known.names.update(names)

    def _explain(self, number: int, path: str) -> str:
        failure = self._failures.get(number)
        if failure is None:
            return f"path {path!r} can match nothing"
        segments = _split(path)
        name = segments[failure.depth]
        text = f"path {path!r} can match nothing: {failure.where} has no {name!r}"
        near = _nearest.find(name, sorted(failure.names))
        if near:
            segments[failure.depth] = self._tracing.join("", near[0])
            text += f"; did you mean {'.'.join(segments)!r}?"
        return text


def _split(path: str) -> list[str]:
    """Splits at dots that have no backslash before them."""
    segments = [""]
    is_escaped = False
    for character in path:
        if character == "." and not is_escaped:
            segments.append("")
            continue
        segments[-1] += character
        is_escaped = character == "\\" and not is_escaped
    return segments


def _holds(module: Any, name: str, function: Any) -> bool:
    """Whether the function's first parameter is the module."""
    return inspect.ismethod(getattr(module, function.__name__, None)) or name == "self"


def _peek(module: Any, name: str) -> Any:
    for home in ("_modules", "_parameters", "_buffers"):
        if name in module.__dict__.get(home, ()):
            return module.__dict__[home][name]
    return module.__dict__.get(name)


def _list_classes(module: Any) -> list[type]:
    """The user's own classes, not torch's."""
    return [
        kind
        for kind in type(module).__mro__
        if kind is not object and kind.__module__.partition(".")[0] != "torch"
    ]


def _list_attributes(module: Any) -> set[str]:
    """The attributes that it has, and those that its methods may add later."""
    names = {name for name in module.__dict__ if not name.startswith("_")}
    for home in ("_modules", "_parameters", "_buffers"):
        names.update(module.__dict__.get(home, ()))
    for kind in _list_classes(module):
        for value in kind.__dict__.values():
            if isinstance(value, types.FunctionType):
                names.update(value.__code__.co_names)
    return names


def _list_own_methods(module: Any) -> list[str]:
    """forward, and the methods that the user's classes define."""
    names = [_FORWARD]
    for kind in _list_classes(module):
        for name, value in kind.__dict__.items():
            if isinstance(value, types.FunctionType) and not name.startswith("__"):
                names.append(name)
    return list(dict.fromkeys(names))


def _list_methods(module: Any, waiting: list[Any]) -> list[str]:
    """Methods that a path may select: a star selects the user's own ones, a name any method."""
    named = [item[2] for item in waiting if not item[3]]
    starred = _list_own_methods(module) if any(item[3] for item in waiting) else []
    return list(dict.fromkeys([*filter(lambda name: _is_method(module, name), named), *starred]))


def _is_method(module: Any, name: str) -> bool:
    found = inspect.getattr_static(module, name, None)
    return callable(found) or isinstance(found, (staticmethod, classmethod))


def _find_function(module: Any, name: str) -> Any:
    """The function that has the method's lines, inside wrappers that set `__wrapped__`."""
    found = getattr(module, name, None)
    for _ in range(32):
        inner = getattr(found, "__wrapped__", None)
        if inner is None:
            break
        found = inner
    found = getattr(found, "__func__", found)
    return found if isinstance(found, types.FunctionType) else None
