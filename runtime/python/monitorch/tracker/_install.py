"""Tracks functions by name, including those of modules that are imported later."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from threading import RLock
from typing import Any

from monitorch import _recorder
from monitorch._imports import Watch

_lock = RLock()
_installed: list[Installation] = []


class Installation:
    """The tracking that `install` has started. A context manager.

    Attributes:
        names (list[str]): the functions that are tracked so far, as
            ``"package.module:Class.forward"``.
    """

    names: list[str]
    """The functions that are tracked so far: `package.module:Class.forward`."""

    def __init__(self, module: str, globs: tuple[str, ...], decorate: Callable[[Any], Any]) -> None:
        self.names = []
        self._module = module
        self._globs = globs
        self._decorate = decorate
        self._changed: list[tuple[Any, str, Any, Any]] = []  # holder, name, before, now

    def has(self, module: str) -> bool:
        """Returns whether a module is the installed one, or is inside it."""
        return module == self._module or module.startswith(self._module + ".")

    def apply(self, module: types.ModuleType) -> None:
        """Decorates what the module defines."""
        self._walk(module, module.__name__, "", set())

    def _walk(self, holder: Any, module: str, path: str, seen: set[int]) -> None:
        for name, value in list(vars(holder).items()):
            if isinstance(value, type):
                if value.__module__ == module and id(value) not in seen:
                    seen.add(id(value))
                    self._walk(value, module, f"{path}{name}.", seen)
            elif _is_defined_in(value, module) and self._is_wanted(path + name):
                self._replace(holder, name, value, f"{module}:{path}{name}")

    def _is_wanted(self, path: str) -> bool:
        return any(_recorder.match_glob(path, glob) for glob in self._globs)

    def _replace(self, holder: Any, name: str, value: Any, full_name: str) -> None:
        from monitorch.tracker._lines import logger

        try:
            made = self._decorate(value)
            _set(holder, name, made)
        except (AttributeError, TypeError, ValueError) as error:
            logger.warning("%s is not tracked: %s", full_name, error)
            return
        self.names.append(full_name)
        if made is not value:
            self._changed.append((holder, name, value, made))

    def remove(self) -> None:
        """Restores the original functions, and leaves modules that are imported later unchanged."""
        with _lock:
            if self in _installed:
                _installed.remove(self)
            if not _installed:
                _watch.end()
        while self._changed:
            holder, name, before, now = self._changed.pop()
            if vars(holder).get(name) is now:
                _set(holder, name, before)

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *raised: object) -> None:
        self.remove()


def _set(holder: Any, name: str, value: Any) -> None:
    setattr(holder, name, value)
    tracers = sys.modules.get("monitorch.tracer._install")
    if tracers is not None and isinstance(holder, type):
        tracers.renew(holder, name)


def install(
    module: types.ModuleType | str,
    *names: str,
    decorator: Callable[[Any], Any] | None = None,
) -> Installation:
    """Tracks the functions of a module or package that match a pattern.

    Functions of modules that are imported later are tracked too.

    Args:
        module (module or str): a module or package, or its name.
        *names (str): patterns of names as they are in the module, such as ``"Net.forward"`` or
            ``"*.forward"``.
        decorator (callable, optional): the decorator to apply. Default: `auto_diff`

    Returns:
        Installation: its `remove()`, or the end of a ``with`` block, restores the functions.

    Raises:
        TypeError: if `module` is not a module, or there are no names.

    Example::

        >>> tracker.install("mypackage.models", "*.forward")
        >>> tracker.install(mypackage, "load_*", decorator=tracker.var_tracker("batch"))
    """
    if isinstance(module, types.ModuleType):
        module = module.__name__
    if not isinstance(module, str):
        raise TypeError(f"install() expects a module or its name, not {type(module).__name__}")
    if not names or not all(isinstance(name, str) and name for name in names):
        raise TypeError(
            "install() expects the names to track: install(module, '*.forward')"
        )
    if decorator is None:
        from monitorch.tracker._decorators import auto_diff

        decorator = functools.partial(auto_diff)
    made = Installation(module, names, decorator)
    with _lock:
        _installed.append(made)
        _watch.begin()
    for name, known in list(sys.modules.items()):
        if made.has(name) and isinstance(known, types.ModuleType):
            spec = getattr(known, "__spec__", None)
            if not getattr(spec, "_initializing", False):
                made.apply(known)
    return made


def _is_defined_in(value: Any, module: str) -> bool:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    is_function = isinstance(value, types.FunctionType) or callable(
        getattr(value, "__wrapped__", None)
    )
    return is_function and getattr(value, "__module__", None) == module


def _is_installed(name: str) -> bool:
    return any(installation.has(name) for installation in _installed)


def _apply_all(module: types.ModuleType) -> None:
    for installation in list(_installed):
        if installation.has(module.__name__):
            installation.apply(module)


_watch = Watch(_is_installed, _apply_all)
