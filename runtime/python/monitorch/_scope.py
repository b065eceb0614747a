"""Which files `monitorch.on` follows, and which lines of what was recorded are drawn."""

import os
import re

from monitorch import _display, _options, _registry, _source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Cells of notebooks and of consoles. They stand in linecache and in no folder, or in none of ours.
_CELL = re.compile(r"<(?:ipython|python)-input-|[/\\]ipykernel_\d+[/\\]")
_INSTALLED = ("site-packages", "dist-packages")
_OURS = os.path.dirname(os.path.realpath(__file__))
_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


class Scope:
    """The lines that `monitorch.lines` has named, and the folder where `on` was called."""

    def __init__(self) -> None:
        self._first: "int | None" = None
        self._last: "int | None" = None
        self._file = ""  # as it was named
        self._folder = ""
        self._callers: "set[str]" = set()
        self._environments: "dict[str, bool]" = {}

    @property
    def has_lines(self) -> bool:
        return self._first is not None

    def begin(self, frame: "FrameType") -> None:
        """`on` was called from this frame."""
        self._folder = os.path.realpath(os.getcwd())
        self._callers.add(os.path.realpath(frame.f_code.co_filename))

    def end(self) -> None:
        """`off` was called."""
        self._callers.clear()

    def set_lines(
        self, start: "int | None", end: "int | None", file: "str | None", frame: "FrameType"
    ) -> None:
        if start is None and end is None:
            if file is not None:
                raise ValueError(f"lines(file={file!r}) needs the first and the last line too")
            self._first = self._last = None
            self._file = ""
            return
        if start is None or end is None:
            missing = "start" if start is None else "end"
            raise ValueError(f"lines() needs both bounds or none: {missing} is missing")
        first = _options.check_number("start", start, 1)
        last = _options.check_number("end", end, 1)
        if last < first:
            raise ValueError(f"lines() needs bounds in their order: {first}-{last} are none")
        self._first, self._last = first, last
        self._file = frame.f_code.co_filename if file is None else _make_absolute(file)

    def patterns(self) -> "tuple[tuple[str, ...], tuple[str, ...]]":
        """For the one who draws: ranges of lines, and globs of the files as a trace has them."""
        if self._first is None:
            return (), ()
        names = {self._file, os.path.realpath(self._file)}
        names.add(_display.name_cell(self._file) or self._file)
        for word, running in list(_registry.files):
            # A file that was instrumented is known by the name of its source.
            source = _source.decode_path(word)
            if _is_same(source, self._file) or _is_same(running, self._file):
                names.add(source)
        return (f"{self._first}-{self._last}",), tuple(sorted(map(_escape, names)))

    def is_followed(self, filename: str) -> bool:
        """Whether functions of that file are recorded, where nothing was instrumented."""
        if _CELL.search(filename):
            return True
        if filename.startswith("<"):
            return False
        path = os.path.realpath(filename)
        if _is_below(path, _OURS):
            return False
        if path in self._callers or (self._file and path == os.path.realpath(self._file)):
            return True
        return _is_below(path, self._folder) and not self._is_library(path)

    def _is_library(self, path: str) -> bool:
        """Whether somebody else's code, which happens to lie under the working directory."""
        if _is_below(path, _LIBRARY):
            return True
        parts = path[len(self._folder) :].strip(os.sep).split(os.sep)[:-1]
        folder = self._folder
        for part in parts:
            folder = os.path.join(folder, part)
            if part in _INSTALLED or self._is_environment(folder):
                return True
        return False

    def _is_environment(self, folder: str) -> bool:
        if folder not in self._environments:
            marker = os.path.join(folder, "pyvenv.cfg")
            self._environments[folder] = os.path.isfile(marker)
        return self._environments[folder]

    def __str__(self) -> str:
        name = _display.name_cell(self._file) or os.path.basename(self._file)
        return f"the lines {self._first} to {self._last} of {name}"


def _make_absolute(file: str) -> str:
    return file if _CELL.search(file) or file.startswith("<") else os.path.abspath(file)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_same(path: object, other: str) -> bool:
    return isinstance(path, str) and os.path.realpath(path) == os.path.realpath(other)


def _escape(path: str) -> str:
    """As a glob that matches this path alone."""
    return re.sub(r"([*?\[])", r"[\1]", path)
