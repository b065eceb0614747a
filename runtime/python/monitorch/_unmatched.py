"""Selections that match nothing in the recorded code, and the names nearest to them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from monitorch import _instrument, _nearest, _recorder, _registry
from monitorch._record import source as _source


def list_sites() -> Iterator[tuple[str, Any]]:
    """The (source file, site) of all code that is instrumented or followed now."""
    for entry in _registry.entries():
        path = _source.path_of(entry.table)
        for site in _instrument.sites(entry.table):
            yield path, site
    follow = sys.modules.get("monitorch._follow.follow")
    if follow is not None:
        yield from follow.list_sites()


def find_missing(
    globs: Iterable[str],
    names: Iterable[str],
    selects: Callable[[str, str], bool] = _recorder.match_name,
) -> list[str]:
    """The globs that match none of the names. The names are read only as far as needed."""
    missing = list(globs)
    for name in names:
        if not missing:
            break
        missing = [glob for glob in missing if not selects(name, glob)]
    return missing


def may_hold(name: str, glob: str) -> bool:
    """Whether the glob selects the name, or may select an item of it: `d['k']` one of `d`."""
    holder = glob.partition("[")[0]
    return _recorder.match_name(name, glob) or _recorder.match_name(name, holder)


def explain_values(globs: Iterable[str], path: str) -> Iterator[str]:
    """The globs of `record(values=)` that match no value of the trace."""
    missing = find_missing(globs, _list_names(list_sites()), may_hold)
    if missing:  # the lines do not have the names of arguments, modules and parameters
        from monitorch._load import load

        names = dict.fromkeys(filter(None, load(path, columns=["name"])["name"]))
        for glob in find_missing(missing, names, may_hold):
            yield f"values={glob!r} matches no recorded name{_nearest.suggest(glob, names)}"


def explain_saver(
    names: Iterable[str], lines: Iterable[tuple[str, int, int]], modules: Iterable[str], paths: Iterable[str]
) -> Iterator[str]:
    """The selections of a TensorSaver that match no line of recorded code.

    `paths` are the paths of the modules that ran.
    """
    sites = list(list_sites())
    if not sites:
        yield "no recorded code ran: the saver's names, modules and lines need instrumented code"
        return
    for glob in find_missing(names, _list_names(sites)):
        near = _nearest.suggest(glob, _list_names(sites), "they assign")
        yield f"names={glob!r}: no recorded line assigns this name{near}"
    for file, first, last in lines:
        if not any(_is_at(site, first, last) and _is_in(path, file) for path, site in sites):
            yield f"lines={name_lines(file, first, last)!r}: no recorded line there assigns a value"
    for glob in find_missing(modules, paths, _recorder.match_glob):
        yield f"modules={glob!r} matches no module that ran{_nearest.suggest(glob, paths)}"


def explain_tracked(function: Any, names: Iterable[str]) -> Iterator[str]:
    """The names of var_tracker that no line of the compiled function assigns."""
    code = function.__code__
    entry = _registry.find_entry(code, function.__globals__)
    if entry is None:
        return  # the function assigns nothing and has no arguments
    lines = list(_list_lines(code))
    sites = (site for site in _instrument.sites(entry.table) if _is_at(site, min(lines), max(lines)))
    assigned = dict.fromkeys(_list_names(("", site) for site in sites))
    for name in find_missing(names, assigned, may_hold):
        near = _nearest.suggest(name, assigned, "it assigns")
        yield f"var_tracker({name!r}): no line of {function.__qualname__} assigns this name{near}"


def explain_lines(lines: Iterable[tuple[str, int, int]]) -> Iterator[str]:
    """The ranges of `run --lines` in which the compiler found nothing to record."""
    sites = list(list_sites())
    for file, first, last in lines:
        if not any(_is_at(site, first, last) and _is_in(path, file) for path, site in sites):
            yield f"--lines {name_lines(file, first, last)}: no line there assigns a value"


def name_lines(file: str, first: int, last: int) -> str:
    """`model.py:10-20`"""
    from monitorch._compile.selected import EVER

    end = "" if last >= EVER else last
    return f"{file}:{first}" if first == last else f"{file}:{first}-{end}"


def _list_names(sites: Iterable[tuple[str, Any]]) -> Iterator[str]:
    return (name for _, site in sites for name, _ in site["writes"] if name)


def _is_at(site: Any, first: int, last: int) -> bool:
    return bool(first <= site["line"] <= last)


def _is_in(path: str, file: str) -> bool:
    return not file or _recorder.match_file(path, file)


def _list_lines(code: Any) -> Iterator[int]:
    inner = (part for part in code.co_consts if hasattr(part, "co_lines"))
    own = (line for _, _, line in code.co_lines() if line is not None)
    return chain((code.co_firstlineno,), own, *map(_list_lines, inner))
