"""Calls of a function of monitorch after the program has imported a module.

Like `_registry`, this module imports only built-in modules.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class Watch:
    """An entry of sys.meta_path that finds no module itself.

    A module whose name `is_wanted` is loaded by its own loader; then `then` is called with it.
    """

    def __init__(self, is_wanted: "Callable[[str], bool]", then: "Callable[[ModuleType], None]") -> None:
        self._is_wanted = is_wanted
        self._then = then

    def begin(self) -> None:
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def end(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: "Any" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if not self._is_wanted(name):
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: "ModuleSpec | None" = find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self._then)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """A loader that loads a module with the module's own loader, and restores that one."""

    def __init__(self, loader: "Any", then: "Callable[[ModuleType], None]") -> None:
        self._loader = loader
        self._then = then

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._loader, name)

    def create_module(self, spec: "ModuleSpec") -> "ModuleType | None":
        spec.loader = self._loader
        try:
            module: "ModuleType | None" = self._loader.create_module(spec)
        finally:
            spec.loader = self  # type: ignore[assignment]
        return module

    def exec_module(self, module: "ModuleType") -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module)
