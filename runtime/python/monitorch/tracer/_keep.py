"""Copies of values, and detection of changes, for types that C does not handle: tensors of devices
and of other classes, arrays, containers, objects."""

from __future__ import annotations

import copy
import dataclasses
import logging
import sys
import types
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from monitorch._models import find_torch, find_version, is_module, is_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    PreSave = Callable[[str, Any, int], Any]

logger = logging.getLogger("monitorch.tracer")

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...))
_DEPTH_LIMIT = 64  # of nested containers
_FUNCTIONS = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)


class CannotKeep(Exception):
    """The reason why a value is not kept."""


class Keeper:
    """Keeps values for one tracer; warns once for each path whose values cannot be kept."""

    def __init__(self, callbacks: Sequence[PreSave]) -> None:
        self._callbacks = callbacks
        self._warned: set[str] = set()

    def keep(self, path: str, value: Any) -> Any:
        """A copy that no other object refers to; NotImplemented if the value cannot be copied."""
        try:
            return copy_value(value)
        except (CannotKeep, RuntimeError, TypeError, ValueError, RecursionError) as error:
            if path not in self._warned:
                self._warned.add(path)
                logger.warning("%s is not traced: %s", path, error)
            return NotImplemented

    def save(self, path: str, value: Any, iteration: int) -> Any:
        """A copy as changed by the pre_save callbacks; NotImplemented if the value cannot be
        copied."""
        kept = self.keep(path, value)
        if kept is NotImplemented:
            return kept
        for callback in self._callbacks:
            kept = callback(path, kept, iteration)
        return kept


def _is_array(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def copy_value(value: Any, depth: int = 0) -> Any:
    """A copy: tensors detached, containers rebuilt, other objects deep-copied."""
    if isinstance(value, _PLAIN):
        return value
    if is_tensor(value):
        return _copy_tensor(value)
    if is_module(value):
        if depth == 0:
            raise CannotKeep("it is a module; trace something inside it")
        return f"<{type(value).__qualname__}>"
    if depth > _DEPTH_LIMIT:
        raise CannotKeep("containers are nested too deeply")
    if isinstance(value, tuple):
        return _copy_tuple(value, depth)
    if isinstance(value, list):
        return [copy_value(item, depth + 1) for item in value]
    if isinstance(value, dict):
        kind = OrderedDict if isinstance(value, OrderedDict) else dict
        return kind((key, copy_value(item, depth + 1)) for key, item in dict.items(value))
    return _copy_object(value)


def _copy_tensor(tensor: Any) -> Any:
    torch = find_torch()
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise CannotKeep("inside torch.func a tensor has no values of its own")
    with torch.no_grad():
        return tensor.detach().clone()


def _copy_tuple(value: tuple[Any, ...], depth: int) -> Any:
    items = [copy_value(item, depth + 1) for item in value]
    if hasattr(type(value), "_fields"):
        return tuple.__new__(type(value), items)
    return tuple(items)


def _copy_object(value: Any) -> Any:
    """A deep copy in which tensors are detached and modules are shared."""
    memo: dict[int, Any] = {}
    for inner in _find_inside(value):
        memo[id(inner)] = _copy_tensor(inner) if is_tensor(inner) else inner
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:  # a user's class may raise anything
        raise CannotKeep(f"a {type(value).__qualname__} cannot be copied: {error}") from error


def _find_inside(value: Any) -> Iterator[Any]:
    """The tensors and modules inside the object, at any depth."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (*_PLAIN, *_FUNCTIONS)):
            continue
        seen.add(id(item))
        if is_tensor(item) or is_module(item):
            yield item
        elif isinstance(item, dict):
            waiting.extend(dict.values(item))
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend(item)
        else:
            waiting.extend(_list_attributes(item))


def _list_attributes(value: Any) -> list[Any]:
    """The values of an instance's dictionary and slots."""
    found = list(getattr(value, "__dict__", {}).values())
    for kind in type(value).__mro__:
        for member in kind.__dict__.values():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    found.append(member.__get__(value))
                except AttributeError:
                    continue
    return found


# ---- changes ----

_Mark = tuple[Any, ...]


def compare(last: list[_Mark] | None, value: Any, iteration: int) -> list[_Mark]:
    """Returns `last` if the value is unchanged since then; else the marks of this value."""
    marks = list(_mark(value, iteration, 0))
    if last is not None and len(last) == len(marks):
        if all(map(_is_same, last, marks)):
            return last
    return marks


def _mark(value: Any, iteration: int, depth: int) -> Iterator[_Mark]:
    """Yields marks that differ if the value, or a value inside it, differs."""
    if isinstance(value, _PLAIN):
        yield "plain", type(value), value
    elif is_tensor(value):
        yield "tensor", weakref.ref(value), find_version(value), iteration
    elif _is_array(value):
        yield "array", value.copy()
    elif depth <= _DEPTH_LIMIT and isinstance(value, (list, tuple, dict)):
        yield "many", type(value), len(value)
        items = dict.items(value) if isinstance(value, dict) else enumerate(value)
        for key, item in list(items):
            yield "key", key if isinstance(key, _PLAIN) else id(key)
            yield from _mark(item, iteration, depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and depth <= _DEPTH_LIMIT:
        yield "many", type(value), 0
        for item in _list_attributes(value):
            yield from _mark(item, iteration, depth + 1)
    else:
        yield "object", _refer(value)


def _refer(value: Any) -> Any:
    """A reference that keeps the object alive only if no weak one exists; equal for the same
    object."""
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def _is_same(one: _Mark, other: _Mark) -> bool:
    kind = one[0]
    if kind != other[0]:
        return False
    if kind == "array":
        return _is_same_array(one[1], other[1])
    if kind in ("tensor", "object"):
        return one[1] is other[1] and one[2:] == other[2:]
    return one == other


def _is_same_array(one: Any, other: Any) -> bool:
    return bool(
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )
