"""The import hook, which instruments selected modules when they are imported.

Files on disk stay as they are, and so do a module's loader, spec, source and cached path.
`SourceFileLoader.get_code` first calls its own `path_stats` for the file; the hook makes the code
there, and passes it to `get_code` when it would compile the source. Bytecode files are neither read
nor written for such a module. If anything fails, nothing has been changed, and Python itself
reports the error, without a frame of monitorch in its traceback.
"""

import contextlib
import importlib.machinery
import sys

from monitorch import _instrument
from monitorch._compile import cache as _cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any

    from monitorch._compile.cache import Notes
    from monitorch._compile.selected import Selected

_Loader = importlib.machinery.SourceFileLoader
_get_code: "CodeType" = _Loader.get_code.__code__
_exec_module: "CodeType" = _Loader.exec_module.__code__
_path_stats = _Loader.path_stats
_source_to_code = _Loader.source_to_code

_hook: "Hook | None" = None


class Hook:
    """Instruments modules, and reports those that cannot be instrumented."""

    def __init__(self, selected: "Selected", say: "Callable[[str], None]") -> None:
        self.selected = selected
        self.say = say
        self._reported: "set[str]" = set()
        folder = _cache.find_folder()
        self._cache = None if folder is None else _cache.Cache(folder)

    def compile(self, name: str, source: bytes, path: str) -> "CodeType | None":
        """The instrumented code, or None if the file is to run as it is.

        Errors in the source are reported by the next compiler of it.
        """
        key = None
        # Python keeps no bytecode of a main module either: its compiler's warnings appear each
        # time.
        if self._cache is not None and name != "__main__" and self._wants(name, source, path):
            key = self._cache.find_key(source, path, self.selected.options(path))
            found = self._cache.get(key)
            if found is not None:
                self._report_notes(found[1], path)
                return found[0]
        made = self._make(_instrument.compile_source, name, source, path)
        if made is None:
            return None
        code, result = made
        self._report_notes(result.notes, path)
        if self._cache is not None and key is not None:
            self._cache.put(key, code, result.notes)
        return code  # type: ignore[no-any-return]

    def instrument(self, name: str, source: bytes, path: str) -> "_instrument.Result | None":
        """The instrumented text, for callers that compile it themselves."""
        result = self._make(_instrument.instrument, name, source, path)
        if result is not None:
            self._report_notes(result.notes, path)
        return result  # type: ignore[no-any-return]

    def _make(
        self, make: "Callable[..., Any]", name: str, source: bytes, path: str
    ) -> "Any":
        if not self._wants(name, source, path):
            return None
        options = self.selected.options(path)
        try:
            try:
                return make(source, path, **options)
            except RecursionError:
                with _same_stack():
                    return make(source, path, **options)
        except _instrument.InstrumentError as error:
            self.report(f"{error}; the file runs without being recorded")
        except (RecursionError, MemoryError) as error:
            self.report(
                f"{path}:1:1: too deep to be instrumented here ({error or 'out of memory'}); the "
                "file runs without being recorded"
            )
        except (SyntaxError, ValueError, OverflowError):
            pass  # Python reports the error when it compiles the file
        return None

    def _wants(self, name: str, source: bytes, path: str) -> bool:
        if not self.selected.has(name, path) or _instrument.is_instrumented(source):
            return False
        line = None if name == "__main__" else _find_handing_over(source)
        if line is not None:
            self.report(
                f"{path}:{line}:1: the module hands itself to a function, which may refuse the names "
                "that recording adds; the file runs without being recorded"
            )
        return line is None

    def _report_notes(self, notes: "Notes", path: str) -> None:
        for kind, line, column, text in notes:
            if kind == "warning":
                self.report(f"{path}:{line}:{column}: {text}")

    def report(self, text: str) -> None:
        """Reports a file once, however often it is imported."""
        if text not in self._reported:
            self._reported.add(text)
            self.say(text)


_OWN_MODULE = b"sys.modules[__name__]"
_ONLY_TREE = 0x400  # ast.PyCF_ONLY_AST; ast must not be imported before the program imports it
# Functions that read or change names which they are given.
_HARMLESS = {"setattr", "getattr", "hasattr", "delattr", "vars", "dir", "print"}


def _find_handing_over(source: bytes) -> "int | None":
    """The line of a statement `install(sys.modules[__name__])` that runs when the module is
    imported.

    torch's modules of settings have it. The function reads all names of the module; at an unknown
    name it raises an exception or changes the module's class.
    """
    if _OWN_MODULE not in source:
        return None
    try:
        tree: "Any" = compile(source, "", "exec", _ONLY_TREE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for statement in tree.body:
        call: "Any" = getattr(statement, "value", None) if type(statement).__name__ == "Expr" else None
        if type(call).__name__ != "Call" or getattr(call.func, "id", "") in _HARMLESS:
            continue
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(_is_own_module(value) for value in given):
            return statement.lineno  # type: ignore[no-any-return]
    return None


def _is_own_module(value: "Any") -> bool:
    of, key = getattr(value, "value", None), getattr(value, "slice", None)
    return (
        getattr(of, "attr", "") == "modules"
        and getattr(getattr(of, "value", None), "id", "") == "sys"
        and getattr(key, "id", "") == "__name__"
    )


@contextlib.contextmanager
def _same_stack() -> "Iterator[None]":
    """Gives the compiler as much stack as it has in a plain run.

    Up to Python 3.11 each open frame reduces its stack, and here frames of monitorch are open
    instead of the two of Python's loader.
    """
    own, frame = -2, sys._getframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        own += module == "runpy" or module.partition(".")[0] == "monitorch"
        frame = frame.f_back  # type: ignore[assignment]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + own)
    try:
        yield
    finally:
        if sys.getrecursionlimit() == limit + own:
            sys.setrecursionlimit(limit)


def be_silent(text: str) -> None:
    """A report function for hooks that report nothing."""


def install(hook: Hook) -> None:
    """Imports modules through this hook from now on."""
    global _hook
    _hook = hook
    _Loader.path_stats = _find_path_stats  # type: ignore[method-assign]
    for name in _LATER:
        if name in sys.modules:
            _change(name)


def get() -> "Hook | None":
    return _hook


def _find_path_stats(self: "Any", path: str) -> "Any":
    """Replaces SourceFileLoader.path_stats."""
    caller = sys._getframe(1)
    if caller.f_code is _get_code:
        if self.name in _awaited:
            _watch(self.name, caller.f_back)
        if _prepare(self, path):
            raise OSError  # get_code then uses no bytecode
    return _path_stats(self, path)


_find_path_stats.__name__ = _path_stats.__name__
_find_path_stats.__qualname__ = _path_stats.__qualname__
_find_path_stats.__doc__ = _path_stats.__doc__


def _prepare(loader: "Any", path: str) -> bool:
    """Prepares the code that the loader will return. Returns False if it is to return its own."""
    is_changed = loader.name in _LATER
    if not is_changed and (_hook is None or not _hook.selected.has(loader.name, path)):
        return False
    try:
        source = loader.get_data(path)
        compile_source = _compile_with_change if is_changed else _compile_for
        code = compile_source(loader, source, path)
    except Exception:
        return False
    if code is None:
        return False

    def give_code(data: bytes, file: str, **options: "Any") -> "CodeType":
        del loader.source_to_code
        if data != source:  # the file was written in between
            return loader.source_to_code(data, file, **options)  # type: ignore[no-any-return]
        return code

    loader.source_to_code = give_code
    return True


def _compile_for(loader: "Any", source: bytes, path: str) -> "CodeType | None":
    if _hook is None:
        return None
    kind = type(loader)
    if kind is _Loader or kind.source_to_code is _source_to_code:
        return _hook.compile(loader.name, source, path)
    # This loader makes code of its own from a source; it gets the instrumented source.
    result = _hook.instrument(loader.name, source, path)
    if result is None:
        return None
    code: "CodeType" = loader.source_to_code(result.text, path)
    return _instrument.map_positions(code, source, result)


# Modules that are changed right after their import: name -> module of monitorch that changes them.
_LATER = {
    "multiprocessing.spawn": "monitorch._run.children",
    "pkgutil": "monitorch._compile.scripts",
    "_pytest.assertion.rewrite": "monitorch._pytest.assertions",
}


def _compile_with_change(loader: "Any", source: bytes, path: str) -> "CodeType":
    """The module's code with one more line, which calls `_change`."""
    line = f"\n__import__('monitorch._compile.import_hook')._compile.import_hook._change({loader.name!r})\n"
    return compile(source + line.encode(), path, "exec", dont_inherit=True)


def _change(name: str) -> None:
    import importlib

    try:
        importlib.import_module(_LATER[name]).change(sys.modules[name])
    except Exception as error:
        if _hook is not None:
            _hook.report(f"{name} could not be notified of instrumented modules: {error}")


# Functions to be called with imported modules: name -> function.
_awaited: "dict[str, Callable[[Any], None]]" = {}


def after(name: str, change: "Callable[[Any], None]") -> None:
    """Calls `change` with the module: at once, or right after the program has imported it.

    The module shows no trace of it then.
    """
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is None or getattr(spec, "_initializing", False):
        _awaited[name] = change
    else:
        _call(change, module)


class _WatchedSpec(importlib.machinery.ModuleSpec):
    """A module's spec during the import. Python's last action is to clear a flag in the spec."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "_initializing" or value:
            super().__setattr__(name, value)
            return
        self.__class__ = importlib.machinery.ModuleSpec  # type: ignore[assignment]
        self._initializing = value
        module = sys.modules.get(self.name)
        if module is not None and getattr(module, "__spec__", None) is self:
            change = _awaited.pop(self.name, None)
            if change is not None:
                _call(change, module)


def _watch(name: str, frame: "FrameType | None") -> None:
    """Watches a module's import. `frame` is the loader's, which runs the module."""
    if frame is None or frame.f_code is not _exec_module:
        return
    spec = getattr(frame.f_locals.get("module"), "__spec__", None)
    if type(spec) is importlib.machinery.ModuleSpec and spec.name == name:
        spec.__class__ = _WatchedSpec


def _call(change: "Callable[[Any], None]", module: "Any") -> None:
    try:
        change(module)
    except Exception as error:
        if _hook is not None:
            _hook.report(f"{module.__name__} could not be prepared for this run: {error}")
