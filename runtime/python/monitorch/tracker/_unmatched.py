"""Warns about names of var_tracker that no line of the function assigns."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterator
from typing import Any

from monitorch import _instrument, _nearest, _recorder, _registry


def warn_of_unmatched(function: Any, names: tuple[str, ...]) -> None:
    """`function` is the compiled one."""
    code = function.__code__
    entry = _registry.find_entry(code, function.__globals__)
    if entry is None:
        return  # nothing in it is assigned, not even an argument
    lines = list(_list_lines(code))
    assigned = {
        name: None
        for site in _instrument.sites(entry.table)
        if min(lines) <= site["line"] <= max(lines)
        for name, _ in site["writes"]
        if name
    }
    for name in names:
        if not any(_matches(name, other) for other in assigned):
            warnings.warn_explicit(
                f"monitorch: var_tracker({name!r}): no line of {function.__qualname__} assigns this name"
                + _nearest.suggest(name, assigned, "it assigns"),
                RuntimeWarning,
                code.co_filename,
                code.co_firstlineno,
            )


def _matches(pattern: str, name: str) -> bool:
    """Whether a pattern selects a name, or may select an item of it: `d['k']` one of `d`."""
    holder = pattern.partition("[")[0]
    return _recorder.match_name(name, pattern) or _recorder.match_name(name, holder)


def _list_lines(code: types.CodeType) -> Iterator[int]:
    yield code.co_firstlineno
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _list_lines(value)
