"""The tensors in tuples, lists, dicts and dataclasses, and what each is called there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def is_tensor(value: object) -> bool:
    """Whether the value is a tensor of torch or another library, or an array."""
    kind = type(value)
    return hasattr(kind, "__dlpack__") or hasattr(kind, "__array_interface__")


def is_container(value: object) -> bool:
    """Whether tensors are looked for in the value."""
    if is_tensor(value) or isinstance(value, type):
        return False
    return isinstance(value, (tuple, list, Mapping)) or hasattr(value, "__dataclass_fields__")


def find_leaves(value: object) -> list[tuple[str, Any]]:
    """[(how it is reached, tensor)]: `[0]`, `['k']`, `.field`; one with "" for a tensor itself.

    What else stands in a container is left out, and so is a container within itself.
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
    if isinstance(container, Mapping):
        for index, key in enumerate(container):
            yield f"[{_key_text(key, index)}]", container[key]
    elif hasattr(container, "_fields"):
        for field in container._fields:
            yield "." + field, getattr(container, field)
    elif isinstance(container, (tuple, list)):
        for index, item in enumerate(container):
            yield f"[{index}]", item
    else:
        for field in container.__dataclass_fields__:
            if hasattr(container, field):
                yield "." + field, getattr(container, field)


def _key_text(key: object, index: int) -> str:
    """Only of plain keys is it known that their texts are short and stay the same."""
    if isinstance(key, (str, int, float, bool, bytes, type(None))):
        return repr(key)
    return f"<{type(key).__name__} {index}>"
