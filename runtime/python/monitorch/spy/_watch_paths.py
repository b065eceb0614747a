"""Where modules stand in their model, found out when their methods run."""

from __future__ import annotations

import weakref
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from monitorch import _recorder

if TYPE_CHECKING:
    from monitorch.spy.saver import TensorSaver

_UNKNOWN = "unknown"
_ROOT = "root"
_MANUAL = "manual"


class Paths:
    """The paths of modules, and which of them are wanted.

    Where nothing was registered with the saver, the outermost module whose method runs is, with
    all that it holds; of a second model that is met so, paths begin with its class.
    """

    def __init__(self, saver: TensorSaver, globs: tuple[str, ...]) -> None:
        self._saver = weakref.ref(saver)
        self._globs = globs
        self._by_hand: bool | None = None  # whether somebody else has registered modules
        self._roots: list[str] = []  # what stands before the paths of each model
        self._wanted: dict[str, bool] = {}

    def find(self, module: Any, override: str | None) -> str | None:
        """The path under which a tensor of the module's is saved; None where it is not wanted."""
        path = override or (_MANUAL if module is None else self._find(module))
        if path == _UNKNOWN:
            return None
        is_wanted = self._wanted.get(path)
        if is_wanted is None:
            is_wanted = not self._globs or any(fnmatchcase(path, glob) for glob in self._globs)
            self._wanted[path] = is_wanted
        return path if is_wanted else None

    def _find(self, module: Any) -> str:
        saver = self._saver()
        if saver is None:
            return _UNKNOWN
        path = saver.get_module_path(module)
        if path != _UNKNOWN:
            return path
        if self._by_hand is None:
            self._by_hand = bool(saver.module_paths)
        if not self._by_hand:
            register_running(saver, module, self._roots)
        return saver.get_module_path(module)


def register_running(saver: TensorSaver, module: Any, roots: list[str]) -> None:
    """Registers the outermost of the modules whose methods run, until `module` is known."""
    running = _recorder.running_modules()
    for model in [*reversed(running), module]:
        if saver.get_module_path(model) == _UNKNOWN:
            _register(saver, model, roots)
        if saver.get_module_path(module) != _UNKNOWN:
            return


def _register(saver: TensorSaver, model: Any, roots: list[str]) -> None:
    """The first model's modules have their plain paths; of the next ones, `Teacher.encoder`,
    `Teacher-2.encoder` and so on."""
    prefix = ""
    if roots:
        kind = prefix = type(model).__name__
        number = 1
        while prefix in roots:
            number += 1
            prefix = f"{kind}-{number}"
    roots.append(prefix)
    for path, part in model.named_modules():
        if saver.get_module_path(part) == _UNKNOWN:
            name = ".".join(word for word in (prefix, path) if word)
            saver._register(part, name or _ROOT)
