"""The files that `monitorch.on` follows, and the recorded lines that are drawn."""

import os
import re

from monitorch import _registry
from monitorch._compile import selected as _selected
from monitorch._notebook import display as _display
from monitorch._record import options as _options
from monitorch._record import source as _source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Cells of notebooks and of consoles. Their source is in linecache, and in no folder of the user's.
_CELL = re.compile(r"<(?:ipython|python)-input-|[/\\]ipykernel_\d+[/\\]")
_INSTALLED = ("site-packages", "dist-packages")
_OURS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_COMMON = ("torch", "numpy")
_LEFT_OUT_LIMIT = 1000
_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


class Scope:
    """The lines that `monitorch.lines` has named, and the folder where `on` was called."""

    def __init__(self) -> None:
        self._first: "int | None" = None
        self._last: "int | None" = None
        self._file = ""  # as the user named it
        self._folder: "str | None" = None  # None: no file is followed because of its folder
        self._callers: "set[str]" = set()
        self._environments: "dict[str, bool]" = {}
        self._include: "tuple[_selected.Glob, ...]" = ()
        self._left_out: "dict[str, None]" = {}

    @property
    def has_lines(self) -> bool:
        return self._first is not None

    @property
    def has_caller(self) -> bool:
        """Whether more is followed than the globs of `include`."""
        return self._folder is not None

    def begin(self, frame: "FrameType") -> None:
        """Starts the scope; `on` was called from this frame."""
        self._folder = os.path.realpath(os.getcwd())
        self._left_out.clear()
        self._callers.add(os.path.realpath(frame.f_code.co_filename))

    def include(self, globs: "tuple[str, ...]") -> None:
        """Follows these modules and files too, wherever they are."""
        if globs != tuple(glob.text for glob in self._include):
            self._include = tuple(_selected.Glob(text) for text in globs)

    def unused_globs(self) -> "list[str]":
        """The globs that match no code which ran so far."""
        return [glob.text for glob in self._include if not glob.is_used]

    def left_out(self) -> "list[str]":
        """Modules whose code ran since `on` and is not followed, in the order of their first calls.

        Modules that every model calls are included only if there are no others.
        """
        own = [name for name in list(self._left_out) if _commonness(name) == 0]
        return own or sorted(self._left_out, key=_commonness)

    def end(self) -> None:
        """Ends the scope; `off` was called."""
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
        """The selection for drawing: ranges of lines, and globs of files as a trace names them."""
        if self._first is None:
            return (), ()
        names = {self._file, os.path.realpath(self._file)}
        names.add(_display.name_cell(self._file) or self._file)
        for word, running in list(_registry.files):
            # The trace names an instrumented file by its source.
            source = _source.decode_path(word)
            if _is_same(source, self._file) or _is_same(running, self._file):
                names.add(source)
        return (f"{self._first}-{self._last}",), tuple(sorted(map(_escape, names)))

    def is_followed(self, filename: str, module: str = "") -> bool:
        """Whether functions of that file are recorded although it is not instrumented."""
        is_followed = self._is_followed(filename, module)
        if not is_followed and module and len(self._left_out) < _LEFT_OUT_LIMIT:
            if not filename.startswith("<") and not _is_of_python(os.path.realpath(filename)):
                self._left_out[module] = None
        return is_followed

    def _is_followed(self, filename: str, module: str) -> bool:
        if _CELL.search(filename):
            return True
        if filename.startswith("<"):
            return False
        path = os.path.realpath(filename)
        if _is_below(path, _OURS):
            return False
        if any([glob.matches(module, os.path.abspath(filename)) for glob in self._include]):
            return True
        if path in self._callers or (self._file and path == os.path.realpath(self._file)):
            return True
        folder = self._folder
        if folder is None:
            return False
        return _is_below(path, folder) and not self._is_library(path, folder)

    def _is_library(self, path: str, folder: str) -> bool:
        """Whether it is a library that happens to be installed under the working directory."""
        if _is_below(path, _LIBRARY):
            return True
        parts = path[len(folder) :].strip(os.sep).split(os.sep)[:-1]
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
        return f"lines {self._first}-{self._last} of {name}"


def _make_absolute(file: str) -> str:
    return file if _CELL.search(file) or file.startswith("<") else os.path.abspath(file)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_of_python(path: str) -> bool:
    """Whether it is part of the standard library, or of monitorch."""
    is_installed = any(f"{os.sep}{folder}{os.sep}" in path for folder in _INSTALLED)
    return _is_below(path, _OURS) or (_is_below(path, _LIBRARY) and not is_installed)


def _commonness(module: str) -> int:
    """0 for a model's own module; higher for modules that all models call."""
    if module.startswith("torch.nn.modules.") and module != "torch.nn.modules.module":
        return 1
    return 2 if module.partition(".")[0] in _COMMON else 0


def _is_same(path: object, other: str) -> bool:
    return isinstance(path, str) and os.path.realpath(path) == os.path.realpath(other)


def _escape(path: str) -> str:
    """A glob that matches this path only."""
    return re.sub(r"([*?\[])", r"[\1]", path)
