"""Globs of `python -m monitorch run` that matched nothing, and the names nearest to them."""

import os
import sys

from monitorch import _instrument, _nearest, _recorder, _unmatched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitorch._compile.selected import Selected


def explain(selected: "Selected") -> "Iterator[str]":
    """A line for each unused glob; called after the program has ended."""
    for text in selected.unused_globs():
        near = _suggest_module(text, selected.settings["script"])
        yield f"no module was imported that matches {text}{near}"
    yield from _explain_functions(selected)
    yield from _unmatched.explain_lines(selected.used_lines())


def _suggest_module(text: str, script: str) -> str:
    if "/" in text:
        return ""  # a path is rarely a misspelled name
    if text.endswith(".py"):
        files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
        names = sorted({os.path.basename(file) for file in files if file.endswith(".py")})
    else:
        own = os.path.splitext(os.path.basename(script))[0]
        others = sorted(name for name in sys.modules if not name.startswith("_"))
        names = [own, *others] if own else others
    found = _nearest.find(text, names)
    return _nearest.ask(found) if found else ""


def _explain_functions(selected: "Selected") -> "Iterator[str]":
    globs = selected.settings["functions"]
    recorded = (site["function"] for _, site in _unmatched.list_sites())
    unused = _unmatched.find_missing(globs, recorded, _recorder.match_glob)
    there = dict.fromkeys(_list_functions(selected)) if unused else {}
    for glob in _unmatched.find_missing(unused, there, _recorder.match_glob):
        near = _nearest.suggest(glob, there)
        yield f"--function {glob} selects nothing in the files that ran{near}"


def _list_functions(selected: "Selected") -> "Iterator[str]":
    """The qualified names in all selected files that were run or imported."""
    for path in selected.paths:
        try:
            with open(path, "rb") as file:
                result = _instrument.instrument(file.read(), path, all=True)
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        for site in _instrument.sites(result.table):
            if site["function"] != "<module>":
                yield site["function"]
