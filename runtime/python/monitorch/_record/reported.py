"""Values that a monitor measured or a saver wrote, as events of the active recording.

They are the arguments of a call of this package's function, made by the program's line: no line of
the program assigned them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._record.hooks import clean
from monitorch._record.observe import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FunctionType

_LIMIT = 1 << 16  # the most names in all places: a program may have new ones in each of its steps
_places: dict[tuple[FunctionType, tuple[str, ...]], Any] = {}
_last: dict[FunctionType, frozenset[str]] = {}  # the names of the last call
_count = 0  # the number of names in all places


def report(function: FunctionType, values: Mapping[str, Any]) -> None:
    """Writes a call of `function` with these arguments, if a recording is active."""
    for names in _group(function, tuple(values)):
        place = _places.get((function, names)) or _add_place(function, names)
        if place is not None:
            _recorder.observe(place, 0, "", None, *(values[name] for name in names))


def _group(function: FunctionType, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Separates names that the last call did not have, so that the repeated names need only one
    place."""
    last, _last[function] = _last.get(function, frozenset()), frozenset(names)
    old = tuple(name for name in names if name in last)
    if (function, names) in _places or not old:
        yield names
        return
    yield old
    new = tuple(name for name in names if name not in last)
    if new:
        yield new


def _add_place(function: FunctionType, names: tuple[str, ...]) -> Any:
    """A place for calls of the function with these arguments; None if there are too many names."""
    global _count
    if _count + len(names) > _LIMIT or not names:
        return None
    _count += len(names)
    code = function.__code__
    path = shorten(code.co_filename, function.__module__)
    sites = (("enter", code.co_firstlineno, tuple(map(clean, names)), ()),)
    place = _places[function, names] = _recorder.make_place(
        clean(path), clean(code.co_filename), function.__module__, function.__qualname__,
        code.co_firstlineno, sites, True,
    )  # fmt: skip
    return place
