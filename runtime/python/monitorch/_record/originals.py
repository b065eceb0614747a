"""The original lines of files that monitorch-instrument wrote, for `linecache`.

Programs that ask Python for a function's source (`inspect.getsource`, `torch.jit.script`, a
debugger) get it without the inserted calls, as with the import hook. A file is stripped at the
first such call. Only `traceback` gets the lines of the file: the columns that it marks are those of
the running code.

Like `_registry`, this module imports only built-in modules.
"""

import sys
from posix import stat as _stat

from monitorch._imports import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any

_waiting: "list[str]" = []  # files, until the program has imported linecache


def add(code: "CodeType") -> None:
    """Registers a file. `code` is the code object of an instrumented module."""
    filename = code.co_filename
    if filename.startswith("<"):
        return
    linecache = sys.modules.get("linecache")
    if linecache is not None and hasattr(linecache, "cache"):
        _enter(linecache, filename)
    else:
        _watch.begin()
        _waiting.append(filename)


def _enter(linecache: "Any", filename: str) -> None:
    try:
        status = _stat(filename)
    except (OSError, ValueError):
        return
    linecache.cache[filename] = _Lines(status.st_size, status.st_mtime, filename)


class _Lines(tuple):  # type: ignore[type-arg]
    """An entry of linecache.cache: (size, time of change, lines, path). The lines are read at their
    first use. If the file changes, linecache drops the entry."""

    def __new__(cls, size: int, mtime: float, filename: str) -> "_Lines":
        return super().__new__(cls, (size, mtime, None, filename))

    def __getitem__(self, index: "Any") -> "Any":
        if index == 2:
            return self._read(_is_for_traceback())
        if isinstance(index, slice):
            return tuple(self)[index]
        return super().__getitem__(index)

    def __iter__(self) -> "Any":
        size, mtime, _, filename = super().__iter__()
        return iter((size, mtime, self._read(False), filename))

    def _read(self, as_they_are: bool) -> "list[str]":
        found: "dict[bool, list[str]]" = self.__dict__.setdefault("found", {})
        if as_they_are not in found:
            found[as_they_are] = _read_lines(super().__getitem__(3), as_they_are)
        return found[as_they_are]


def _is_for_traceback() -> bool:
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "linecache":
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_globals.get("__name__") == "traceback"


def _read_lines(filename: str, as_they_are: bool) -> "list[str]":
    """Reads a file as linecache does. Returns [] if that fails."""
    import io
    import tokenize

    try:
        with open(filename, "rb") as file:
            source = file.read()
        if not as_they_are:
            source = _strip(source, filename)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        lines = io.TextIOWrapper(io.BytesIO(source), encoding).readlines()
    except (OSError, UnicodeDecodeError, SyntaxError):
        return []
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _strip(source: bytes, filename: str) -> bytes:
    from monitorch import _instrument

    try:
        return _instrument.strip(source, filename)
    except (_instrument.InstrumentError, ValueError, MemoryError):
        return source


def _is_linecache(name: str) -> bool:
    return name == "linecache"


def _enter_waiting(linecache: "ModuleType") -> None:
    _watch.end()
    while _waiting:
        _enter(linecache, _waiting.pop(0))


_watch = Watch(_is_linecache, _enter_waiting)
