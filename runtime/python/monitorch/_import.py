"""The import hook: modules that are selected are instrumented when they are imported.

Files on disk stay as they are, and so does all that can be seen of a module: its loader, spec,
source and cached path. What changes is the code that a loader of Python source gives, so
that is what is replaced: `SourceFileLoader.get_code`. Bytecode files are neither read nor
written for such a module.
"""

import importlib.machinery
import os
import sys

from monitorch import _instrument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from monitorch._selected import Selected

_Loader = importlib.machinery.SourceFileLoader
_get_code = _Loader.get_code
_source_to_code = _Loader.source_to_code

_hook: "Hook | None" = None


class Hook:
    """What is instrumented, and what is said where that fails."""

    def __init__(self, selected: "Selected", say: "Callable[[str], None]") -> None:
        self.selected = selected
        self.say = say
        self.count = 0  # of files that were instrumented
        self._told: "set[str]" = set()

    def compile(self, name: str, source: bytes, path: str) -> "CodeType | None":
        """The instrumented code, or None where the file is to run as it is.

        What is wrong with a source is left to be found by who compiles it then.
        """
        made = self.instrument(name, source, path)
        if made is None:
            return None
        code, _ = made
        return code

    def instrument(
        self, name: str, source: bytes, path: str
    ) -> "tuple[CodeType, _instrument.Result] | None":
        if not self.selected.has(name, path) or _instrument.is_instrumented(source):
            return None
        try:
            code, result = _instrument.compile_source(
                source, path, **self.selected.options(path)
            )
        except _instrument.InstrumentError as error:
            self.tell(f"{error}; the file runs without being recorded")
            return None
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return None
        for kind, line, column, text in result.notes:
            if kind == "warning":
                self.tell(f"{path}:{line}:{column}: {text}")
        self.count += result.is_changed
        return code, result

    def tell(self, text: str) -> None:
        """Once, however often a file is imported."""
        if text not in self._told:
            self._told.add(text)
            self.say(text)


def be_silent(text: str) -> None:
    """For hooks that are to tell nothing."""


def install(hook: Hook) -> None:
    """From now on modules are imported through this hook."""
    global _hook
    _hook = hook
    _Loader.get_code = _get_instrumented_code  # type: ignore[method-assign]
    runpy: "Any" = sys.modules.get("runpy")
    if runpy is not None:
        runpy.compile = _compile_for_runpy
    for name in _LATER:
        if name in sys.modules:
            _change(name)


def get() -> "Hook | None":
    return _hook


def _get_instrumented_code(self: "Any", fullname: str) -> "CodeType | None":
    code = None
    try:
        if fullname in _LATER:
            code = _add_change(self, fullname)
        elif _hook is not None and fullname == self.name:
            code = _load(_hook, self, fullname)
    except (OSError, SyntaxError, ValueError):
        pass  # the loader itself tells of it
    return _get_code(self, fullname) if code is None else code


_get_instrumented_code.__name__ = _get_code.__name__
_get_instrumented_code.__qualname__ = _get_code.__qualname__
_get_instrumented_code.__doc__ = _get_code.__doc__
# Python leaves the frames of its own import machinery out of tracebacks, known by their file.
_get_instrumented_code.__code__ = _get_instrumented_code.__code__.replace(
    co_filename=_get_code.__code__.co_filename, co_name=_get_code.__name__
)


def _load(hook: Hook, loader: "Any", name: str) -> "CodeType | None":
    if not hook.selected.has(name, loader.path):
        return None
    kind = type(loader)
    if kind is _Loader or kind.source_to_code is _source_to_code:
        return hook.compile(name, loader.get_data(loader.path), loader.path)
    # It makes code of its own from a source: from the instrumented one, then.
    source = loader.get_data(loader.path)
    made = hook.instrument(name, source, loader.path)
    if made is None:
        return None
    _, result = made
    code: "CodeType" = loader.source_to_code(result.text, loader.path)
    return _instrument.map_positions(code, source, result)


def _compile_for_runpy(source: "Any", filename: "Any", mode: str) -> "CodeType":
    """In the place of `compile` in runpy: for run_path, and so for the main module in
    processes that multiprocessing makes."""
    if _hook is not None and isinstance(source, bytes):
        path = os.fsdecode(filename)
        code = _hook.compile("__main__", source, path)
        if code is not None:
            return code
    return compile(source, filename, mode, dont_inherit=True)


# Modules that are changed as soon as they are there: name -> module of ours that does it.
_LATER = {
    "multiprocessing.spawn": "monitorch._children",
    "_pytest.assertion.rewrite": "monitorch._assertions",
}


def _add_change(loader: "Any", name: str) -> "CodeType":
    """The module's code with one more line, which calls `_change`."""
    source = loader.get_data(loader.path)
    line = f"\n__import__('monitorch._import')._import._change({name!r})\n"
    return compile(source + line.encode(), loader.path, "exec", dont_inherit=True)


def _change(name: str) -> None:
    import importlib

    try:
        importlib.import_module(_LATER[name]).change(sys.modules[name])
    except Exception as error:
        if _hook is not None:
            _hook.tell(f"{name} could not be told of instrumented modules: {error}")
