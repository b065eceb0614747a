"""The paths of modules in their model, found when their methods run."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch.spy.base import BaseDebugger, Selection

if TYPE_CHECKING:
    from monitorch.spy.saver import TensorSaver

_UNKNOWN = "unknown"
_ROOT = "root"
_MANUAL = "manual"


class Paths:
    """The paths of modules, and which of them are selected.

    If nothing was registered with the saver, the outermost module whose method runs is registered
    with all of its modules. The paths of a second model begin with its class. Until the
    constructors of a module and of those around it have ended, the module has no path, and its
    class is used.
    """

    def __init__(self, saver: TensorSaver, globs: tuple[str, ...]) -> None:
        self._saver = weakref.ref(saver)
        self.globs = globs
        self._root_counts: dict[str, int] = {}  # class -> models that were seen
        self.wanted: dict[str, bool] = {}

    def find(self, module: Any, override: str | None) -> str | None:
        """The path under which a tensor of the module is saved; None if the module is not
        selected."""
        path = override or (_MANUAL if module is None else self._find(module))
        if path == _UNKNOWN:
            return None
        is_wanted = self.wanted.get(path)
        if is_wanted is None:
            is_wanted = not self.globs or any(
                _recorder.match_glob(path, glob) for glob in self.globs
            )
            self.wanted[path] = is_wanted
        return path if is_wanted else None

    def _find(self, module: Any) -> str:
        saver = self._saver()
        if saver is None:
            return _UNKNOWN
        path = saver.get_module_path(module)
        if path != _UNKNOWN or (saver.module_paths and not self._root_counts):
            return path  # "unknown", if the user has registered modules
        return self.register(saver, module)

    def register(self, saver: TensorSaver, module: Any) -> str:
        """Registers the outermost of the modules whose methods run, then the next, until
        `module` is known; returns its path."""
        running = list(reversed(_recorder.running_modules()))
        unfinished = [model for model, is_being_made in running if is_being_made]
        if unfinished:
            return _name_unfinished(unfinished, module)
        for model in [*(model for model, _ in running), module]:
            self._register_below(saver, model)
            path = find_registered(saver, module)
            if path != _UNKNOWN:
                return path
        return _UNKNOWN

    def _register_below(self, saver: TensorSaver, model: Any) -> None:
        """Registers all modules inside `model` that are not registered yet."""
        above = find_registered(saver, model)
        if above == _UNKNOWN:
            above = self._name_root(model)
            saver._register(model, above)  # a wrapper has the path of its model
        for path, part in Selection(unwrap=True).find(model):
            if find_registered(saver, part) == _UNKNOWN:
                words = [word for word in (above, path) if word != _ROOT]
                saver._register(part, ".".join(words) or _ROOT)

    def _name_root(self, model: Any) -> str:
        """The path of a root: "root" for the first model; `Teacher`, `Teacher-2` and so on for
        others."""
        kind = type(model).__name__ if self._root_counts else _ROOT
        count = self._root_counts.get(kind, 0) + 1
        self._root_counts[kind] = count
        return kind if count == 1 else f"{kind}-{count}"


def find_registered(saver: TensorSaver, module: Any) -> str:
    """The path under which the module is registered already, or "unknown"."""
    return BaseDebugger.get_module_path(saver, module)


def _name_unfinished(unfinished: list[Any], module: Any) -> str:
    """A name for a module while its final place is not known.

    It consists of the class of the outermost module under construction that contains it, and the
    path in that module.
    """
    for model in unfinished:
        if "_modules" not in model.__dict__:
            continue  # nn.Module.__init__ has not been called
        for path, part in Selection(unwrap=True).find(model):
            if part is module:
                kind = type(model).__name__
                return kind if path == _ROOT else f"{kind}.{path}"
    return type(module).__name__
