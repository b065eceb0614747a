"""Where modules stand in their model, found out when their methods run."""

from __future__ import annotations

import weakref
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch.spy.base import BaseDebugger

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
        path = find_registered(saver, module)
        if path != _UNKNOWN:
            return path
        if saver.module_paths and not self._roots:
            return _UNKNOWN  # somebody has said by hand which modules there are
        return self.register(saver, module)

    def register(self, saver: TensorSaver, module: Any) -> str:
        """Registers the outermost of the modules whose methods run, then the next, until
        `module` is known; returns its path."""
        for model in [*reversed(_recorder.running_modules()), module]:
            if find_registered(saver, model) == _UNKNOWN:
                self._register_model(saver, model)
            path = find_registered(saver, module)
            if path != _UNKNOWN:
                return path
        return _UNKNOWN

    def _register_model(self, saver: TensorSaver, model: Any) -> None:
        """The first model's modules have their plain paths; those of others, `Teacher.encoder`,
        `Teacher-2.encoder` and so on."""
        prefix = ""
        if self._roots:
            kind = prefix = type(model).__name__
            number = 1
            while prefix in self._roots:
                number += 1
                prefix = f"{kind}-{number}"
        self._roots.append(prefix)
        for path, part in model.named_modules():
            if find_registered(saver, part) == _UNKNOWN:
                name = ".".join(word for word in (prefix, path) if word)
                saver._register(part, name or _ROOT)


def find_registered(saver: TensorSaver, module: Any) -> str:
    """The path that the module has already, "unknown" if it has none."""
    return BaseDebugger.get_module_path(saver, module)
