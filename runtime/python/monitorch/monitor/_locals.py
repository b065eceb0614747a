"""Metrics of local variables of a forward: "encoder.attn.forward:scores".

The methods that hold such names are compiled again so that they record. On monitored steps they
replace the modules' methods, and a watcher receives the values.
"""

from __future__ import annotations

import sys
import weakref
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._record import hooks as _hooks

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Mapping

_RETURN = "return"


class Locals:
    """The local variables that one monitor measures."""

    def __init__(
        self,
        is_wanted: Callable[[str], bool],
        measure: Callable[[str, Any, bool], None],
        make_probe: Callable[[str, bool], _recorder.Probe | None],
        logger: logging.Logger,
    ) -> None:
        """`is_wanted(name)` decides on "encoder.forward:scores"; `measure(name, value,
        is_reference)` measures a value; `make_probe(name, is_reference)` returns a probe that
        measures it in C, or None."""
        self._is_wanted = is_wanted
        self._measure = measure
        self._make_probe = make_probe
        self._probes: dict[str, _recorder.Probe | None] = {}  # by full name
        self._logger = logger
        self._names: dict[Any, tuple[str, bool]] = {}  # by module
        self._wanted: set[str] = set()
        self._methods: list[tuple[dict[str, Any], str, Any]] = []
        self._watcher: _recorder.Watcher | None = None
        self._known: dict[str, bool] = {}  # by full name: whether it is wanted
        self._versions: dict[str, tuple[weakref.ref[Any], int]] = {}

    def add(self, names: dict[Any, str], is_reference: bool) -> None:
        """Finds the wanted variables in the modules' methods."""
        for module, name in names.items():
            self._names[module] = name, is_reference
            for method, function in _find_methods(module):
                found = self._find_wanted(f"{name}.{method}:", function)
                if found:
                    self._wanted |= found
                    self._compile(module, name, method, function)
        self._watcher = None
        if self._wanted:
            globs = tuple(sorted(name.encode() for name in self._wanted))
            self._watcher = _recorder.make_watcher(globs, ())

    def begin(self) -> None:
        if self._watcher is not None:
            value = object()
            _recorder.learn_layout(value)
            for methods, name, method in self._methods:
                methods[name] = method
            _hooks.begin_watching(self._watcher, self._visit)

    def end(self) -> None:
        if self._watcher is not None:
            _hooks.end_watching(self._watcher)
            for methods, name, _ in self._methods:
                methods.pop(name, None)
            self._versions.clear()
            for probe in self._probes.values():
                if probe is not None:
                    probe.forget()

    def _find_wanted(self, prefix: str, function: FunctionType) -> set[str]:
        return {name for name in _list_names(function) if self._is_wanted(prefix + name)}

    def _compile(self, module: Any, name: str, method: str, function: FunctionType) -> None:
        from monitorch._compile import function as _function

        try:
            compiled = _function.compile_function(function)
        except (_function.CannotCompile, ImportError) as error:
            self._logger.warning("Variables of %s.%s are not monitored: %s", name, method, error)
            return
        if compiled is function:
            return  # the method records already
        if method in module.__dict__:
            self._logger.warning(
                "Variables of %s.%s are not monitored: the module has another %s of its own",
                name, method, method,
            )  # fmt: skip
            return
        self._methods.append((module.__dict__, method, MethodType(compiled, module)))

    def _visit(
        self, name: str, value: Any, may_be_unchanged: bool, module: Any
    ) -> Callable[[Any, bool], None] | bool | None:
        """Measures the value.

        Returns the function that measures later values of this line and module, None to be called
        again, or False if they are not wanted.
        """
        known = self._names.get(module) if module is not None else None
        if known is None:
            return False
        method = sys._getframe(1).f_code.co_name
        full_name = f"{known[0]}.{method}:{name}"
        is_wanted = self._known.get(full_name)
        if is_wanted is None:
            is_wanted = self._known[full_name] = self._is_wanted(full_name)
        if not is_wanted:
            return False
        if full_name not in self._probes:
            self._probes[full_name] = self._make_probe(full_name, known[1])
        probe = self._probes[full_name]
        if probe is not None:
            probe.visit(value, may_be_unchanged)
            return probe.visit
        is_changed = self._note_version(full_name, value)
        if is_changed or not may_be_unchanged:
            self._measure(full_name, value, known[1])
        return None

    def _note_version(self, full_name: str, value: Any) -> bool:
        """Whether the value differs from the last one under this name."""
        try:
            version = value._version
            known = self._versions.get(full_name)
            self._versions[full_name] = weakref.ref(value), version
        except (AttributeError, RuntimeError, TypeError):
            return True
        return known is None or known[0]() is not value or known[1] != version


def list_locals(modules: Mapping[Any, str]) -> Iterator[str]:
    """Yields all names that metrics can select: "encoder.forward:scores"."""
    for module, name in modules.items():
        for method, function in _find_methods(module):
            for local in _list_names(function):
                yield f"{name}.{method}:{local}"


def _list_names(function: FunctionType) -> Iterator[str]:
    code = function.__code__
    yield from (*code.co_varnames, *code.co_cellvars, _RETURN)
    yield from (f"self.{name}" for name in code.co_names)


def _find_methods(module: Any) -> Iterator[tuple[str, FunctionType]]:
    """Yields the Python functions that the model's own classes define."""
    found = set()
    for kind in type(module).__mro__:
        if kind.__module__ == "torch.nn.modules.module" or kind is object:
            break
        for name, value in vars(kind).items():
            if isinstance(value, FunctionType) and name not in found and name[:2] != "__":
                found.add(name)
                yield name, value
