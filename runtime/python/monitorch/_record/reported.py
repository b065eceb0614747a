"""Values that a monitor measured or a saver wrote, as events of the recording that goes on.

They are the arguments of a call of this package's function, made by the program's line: no line of
the program assigned them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._record.hooks import clean
from monitorch._record.observe import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FunctionType

_LIMIT = 4096  # of places: a program may have a name for each of its steps
_places: dict[tuple[object, tuple[str, ...]], Any] = {}


def report(function: FunctionType, values: Mapping[str, Any]) -> None:
    """Writes a call of `function` with these arguments; nothing where nothing is recorded."""
    names = tuple(values)
    place = _places.get((function, names))
    if place is None:
        if len(_places) >= _LIMIT or not names:
            return
        place = _places[function, names] = _make_place(function, names)
    _recorder.observe(place, 0, "", None, *values.values())


def _make_place(function: FunctionType, names: tuple[str, ...]) -> Any:
    code = function.__code__
    path = shorten(code.co_filename, function.__module__)
    sites = (("enter", code.co_firstlineno, tuple(map(clean, names)), ()),)
    return _recorder.make_place(
        clean(path), clean(code.co_filename), function.__module__, function.__qualname__,
        code.co_firstlineno, sites, True,
    )  # fmt: skip
