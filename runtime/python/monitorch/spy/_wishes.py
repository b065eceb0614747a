"""Checks of the arguments by which a TensorSaver saves without spy_save."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

from monitorch import _recorder, _selection
from monitorch._compile import selected as _selected
from monitorch._record import options as _options

if TYPE_CHECKING:
    Texts = str | Iterable[str]
    Lines = int | str | Iterable[int | str]
    Calls = int | str | Container[int]
    When = str | Callable[[Any], Any]

#: The values of `when`, as `_recorder.is_nonfinite` expects them.
_NONFINITE = {"nan": 1, "inf": 2, "nonfinite": 3}


def read_texts(what: str, texts: Texts | None) -> tuple[str, ...]:
    """Reads `"q,k"` or `["q", "k"]`; an empty result selects all."""
    if texts is None:
        return ()
    if isinstance(texts, str):
        texts = _recorder.split_list(texts)
    expected = f"{what} must be globs such as 'q,attn*' or ['q', 'attn*']"
    found = tuple(text.strip() for text in _options.check_names(expected, texts))
    if not found or not all(found):
        raise ValueError(f"{expected}, not {'empty text' if found else 'an empty list'}")
    return found


def read_lines(lines: Lines | None) -> tuple[tuple[str, int, int], ...]:
    """(file, first, last) of 12, "10-20", "model.py:12", "nets/model.py:10-20", or several."""
    if lines is None:
        return ()
    if isinstance(lines, (int, str)):
        lines = [lines]
    expected = "lines must be 12, '10-20' or 'model.py:10-20', or a list of such"
    found = []
    try:
        items = list(lines)
    except TypeError:
        raise TypeError(f"{expected}, not {lines!r}") from None
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (int, str)):
            raise TypeError(f"{expected}, not {item!r}")
        try:
            found.append(_selected.read_lines(str(item)))
        except ValueError as error:
            raise ValueError(f"{expected}; {error}") from None
    if not found:
        raise ValueError(f"{expected}, not an empty list")
    return tuple(found)


def read_calls(calls: Calls | None) -> Container[int] | None:
    """Returns a container of the selected numbers; None selects all."""
    if calls is None:
        return None
    expected = "calls must be a number or numbers, such as 0, '0-9,50-', range(0, 100, 10) or {1, 5}"
    if isinstance(calls, str):
        return _selection.Numbers(expected, calls)
    if isinstance(calls, bool):
        raise TypeError(f"{expected}, not {calls!r}")
    if isinstance(calls, SupportsIndex):
        number = operator.index(calls)
        if number < 0:
            raise ValueError(f"{expected}, not {number}: calls are counted from 0")
        return (number,)
    if isinstance(calls, bytes) or not isinstance(calls, Container):
        raise TypeError(f"{expected}, not {calls!r}")
    return calls


def read_when(when: When | None) -> Callable[[Any], bool] | None:
    """Returns a function that decides whether a tensor is saved; None saves all."""
    if when is None:
        return None
    if callable(when):
        return lambda tensor: bool(when(tensor))
    if not isinstance(when, str) or when not in _NONFINITE:
        names = ", ".join(repr(name) for name in _NONFINITE)
        raise ValueError(f"when must be {names} or a function of a tensor, not {when!r}")
    wanted = _NONFINITE[when]
    return lambda tensor: _holds(tensor, wanted)


def _holds(tensor: Any, wanted: int) -> bool:
    """Whether the tensor holds NaN or infinities, on any device."""
    answer = _recorder.is_nonfinite(tensor, wanted)
    if answer is not NotImplemented:
        return bool(answer)
    try:
        values = tensor.detach()
        is_nan = wanted & 1 and bool(values.isnan().any())
        return bool(is_nan or (wanted & 2 and bool(values.isinf().any())))
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False  # a meta tensor, or another one without values
