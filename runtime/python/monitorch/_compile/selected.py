"""The selection of files and of their parts that `python -m monitorch run` instruments."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVER = 1 << 30  # the last line of any file
_PACKAGES = ("site-packages", "dist-packages")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/"


class Selected:
    """The selection. It consists of plain values (`settings`), which a child process gets as
    text."""

    def __init__(self, settings: "dict[str, Any]") -> None:
        self.settings = settings
        self.paths: "dict[str, None]" = {}  # paths of files that were checked and are selected
        self._roots = [_as_folder(root) for root in settings["roots"]]
        self._include = [Glob(text) for text in settings["include"]]
        self._exclude = [Glob(text) for text in settings["exclude"]]
        self._lines = [(Glob(file), first, last) for file, first, last in settings["lines"]]
        self._foreign = _find_foreign_folders()
        self._installed: "dict[str, bool]" = {}  # by folder, for those that were checked

    def has(self, name: str, path: str) -> bool:
        """Whether the module `name` at `path` is selected."""
        is_one = self._has(name, path)
        if is_one:
            self.paths[path] = None
        return is_one

    def _has(self, name: str, path: str) -> bool:
        is_script = path == self.settings["script"]
        path = _make_absolute(path)
        is_script = is_script or path == self.settings["script"]
        if path.startswith(_OWN):
            return False
        if any(glob.matches(name, path) for glob in self._exclude):
            return False
        if self._include:
            return any([glob.matches(name, path) for glob in self._include])
        if self._lines and self._find_lines(path):
            return True
        if is_script:
            return not self._is_program_of_python(path)
        if self._is_foreign(path) or not self._is_below_a_root(path):
            return False
        return not self._is_installed(_find_top(name, path))

    def options(self, path: str) -> "dict[str, Any]":
        """The parts of a file to record, as options of compile_source."""
        settings = self.settings
        if not (settings["forward"] or settings["functions"] or settings["lines"]):
            return {"all": True}
        return {
            "forward": settings["forward"],
            "functions": settings["functions"],
            "lines": self._find_lines(_make_absolute(path)),
        }

    def unused_globs(self) -> "list[str]":
        """Globs of --include and --lines that match no imported file."""
        globs = self._include + [glob for glob, _, _ in self._lines]
        return [glob.text for glob in globs if not glob.is_used]

    def used_lines(self) -> "list[tuple[str, int, int]]":
        """Ranges of --lines in files that were imported."""
        return [(glob.text, first, last) for glob, first, last in self._lines if glob.is_used]

    def _find_lines(self, path: str) -> "list[tuple[int, int]]":
        return [(first, last) for glob, first, last in self._lines if glob.matches("", path)]

    def _is_below_a_root(self, path: str) -> bool:
        if any(path.startswith(root) for root in self._roots):
            return True
        real = os.path.realpath(path)
        return real != path and any(real.startswith(root) for root in self._roots)

    def _is_foreign(self, path: str) -> bool:
        if any(f"/{folder}/" in path for folder in _PACKAGES):
            return True
        return any(path.startswith(folder) for folder in self._foreign)

    def _is_installed(self, folder: str) -> bool:
        """Whether pip has installed into the folder: `pip install --target`."""
        if folder + "/" in self._roots:
            return False
        if folder not in self._installed:
            self._installed[folder] = has_installed_packages(folder)
        return self._installed[folder]

    def _is_program_of_python(self, path: str) -> bool:
        """Whether it belongs to Python's installation, as pytest and torchrun do."""
        folder = os.path.dirname(sys.executable)
        return bool(folder) and os.path.dirname(path) == folder or self._is_foreign(path)


def find_current_folder() -> str:
    """The current folder; empty if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _make_absolute(path: str) -> str:
    return os.path.normpath(path if path.startswith("/") else f"{find_current_folder()}/{path}")


def _as_folder(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _find_foreign_folders() -> "list[str]":
    """The folders of the standard library and of the virtual environment."""
    folders = {os.path.dirname(os.path.abspath(os.__file__))}
    if sys.prefix != sys.base_prefix:
        folders.add(os.path.abspath(sys.prefix))
    folders |= {os.path.realpath(folder) for folder in folders}
    return [_as_folder(folder) for folder in sorted(folders)]


def _find_top(name: str, path: str) -> str:
    """The folder that contains a module's package, or the module itself."""
    folder = os.path.dirname(path)
    if os.path.basename(path) == "__init__.py":
        name += "."
    for _ in range(name.count(".")):
        folder = os.path.dirname(folder)
    return folder


def has_installed_packages(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".dist-info") for entry in entries)
    except OSError:
        return False


class Glob:
    """A pattern of a module's name, a file's name or a path; it records whether it matched.

    `model` is a module and the contents of that package, `model.py` any file of that name. A
    pattern with a slash is a path: of a file, or of a folder with all its contents.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_used = False
        self._pattern = text
        self._is_path = "/" in text or text in (".", "..")
        if self._is_path:
            pattern = os.path.expanduser(text)
            self._pattern = _make_absolute(pattern)

    def matches(self, name: str, path: str) -> bool:
        from monitorch import _recorder

        if self._is_path or self._pattern.endswith(".py"):
            found = _recorder.match_file(path, self._pattern)
        else:
            found = _recorder.match_name(name, self._pattern)
            if name == "__main__":
                stem = os.path.splitext(os.path.basename(path))[0]
                found = found or _recorder.match_glob(stem, self._pattern)
        self.is_used = self.is_used or found
        return found


def read_lines(text: str) -> "tuple[str, int, int]":
    """Reads `FILE:N-M`, also `N`, `N-` and `-M`, as (file, first, last). Raises ValueError for any
    other text."""
    from monitorch import _recorder

    try:
        file, first, last = _recorder.read_lines(text)
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from None
    return file, min(first, EVER), min(last, EVER)
