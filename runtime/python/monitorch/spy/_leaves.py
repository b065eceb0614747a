"""The tensors in tuples, lists, dicts and dataclasses, and their paths in these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MemberDescriptorType
from typing import Any

from monitorch._recorder import is_tensor

_MRO = type.__dict__["__mro__"].__get__  # read without asking the metaclass or the class
_DICT = type.__dict__["__dict__"].__get__
_MISSING = object()


def _find_static(kind: type, name: str) -> object:
    """The value of that name in the class or one of its bases. No code of theirs is run."""
    for base in _MRO(kind):
        found = _DICT(base).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return _MISSING


def is_container(value: object) -> bool:
    """Whether the value may hold tensors.

    Only its type is used: an object may have every attribute, as torch.fx's proxies do, and
    isinstance() reads the object's `__class__`.
    """
    kind = type(value)
    if issubclass(kind, type) or is_tensor(value):
        return False
    return issubclass(kind, (tuple, list, Mapping)) or _fields(kind) is not None


def _fields(kind: type) -> "list[str] | None":
    """The fields of a dataclass."""
    fields = _find_static(kind, "__dataclass_fields__")
    return list(fields) if isinstance(fields, dict) else None


def find_leaves(value: object) -> list[tuple[str, Any]]:
    """[(path, tensor)], with paths such as `[0]`, `['k']`, `.field`, and "" for a tensor itself.

    Other values in a container are skipped, and so is a container inside itself.
    """
    found: list[tuple[str, Any]] = []
    waiting: list[tuple[str, object, tuple[int, ...]]] = [("", value, ())]
    while waiting:
        path, item, around = waiting.pop()
        if is_tensor(item):
            found.append((path, item))
        elif is_container(item) and id(item) not in around:
            inner = [(path + step, part, (*around, id(item))) for step, part in _steps(item)]
            waiting.extend(reversed(inner))
    return found


def _steps(container: Any) -> Iterator[tuple[str, object]]:
    kind = type(container)
    if issubclass(kind, Mapping):
        pairs = dict.items(container) if issubclass(kind, dict) else _pairs(container)
        for index, (key, item) in enumerate(list(pairs)):
            yield f"[{_key_text(key, index)}]", item
    elif issubclass(kind, (tuple, list)):
        own: Any = tuple if issubclass(kind, tuple) else list
        names = _find_static(kind, "_fields")
        fields = names if own is tuple and isinstance(names, tuple) else ()
        for index, item in enumerate(list(own.__iter__(container))):
            yield f".{fields[index]}" if index < len(fields) else f"[{index}]", item
    else:
        for field in _fields(kind) or ():
            item = _field_value(container, field)
            if item is not _MISSING:
                yield "." + field, item


def _pairs(container: Any) -> Iterator[tuple[object, object]]:
    for key in container:
        yield key, container[key]


def _field_value(container: object, field: str) -> object:
    """The value in the instance's dictionary or its slot; no property is called. _MISSING if there
    is none."""
    found = _find_static(type(container), field)
    if isinstance(found, MemberDescriptorType):
        try:
            return found.__get__(container)
        except AttributeError:
            return _MISSING
    try:
        inside = object.__getattribute__(container, "__dict__")
    except AttributeError:
        inside = {}
    default = _MISSING if hasattr(type(found), "__get__") else found
    return inside.get(field, default) if isinstance(inside, dict) else default


def _key_text(key: object, index: int) -> str:
    """The text of a key. Only plain keys are known to have texts that are short and do not
    change."""
    if isinstance(key, (str, int, float, bool, bytes, type(None))):
        return repr(key)
    return f"<{type(key).__name__} {index}>"
