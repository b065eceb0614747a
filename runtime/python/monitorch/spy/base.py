"""What TensorSaver and CallTracer have in common: modules known by their paths."""

from __future__ import annotations

import logging
import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitorch import _nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

logger = logging.getLogger(__name__)
_UNKNOWN = "unknown"
_ROOT = "root"
#: Attributes under which wrappers (torch.compile, DDP, DataParallel, FSDP) hold the module.
_WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
}


class BaseDebugger:
    """Writes into a folder, and knows modules by their paths in the model.

    The folder is made if it is not there. `enabled` may be changed at any time; while it is
    False, nothing is done.
    """

    def __init__(self, output_dir: str | os.PathLike[str], enabled: bool = True) -> None:
        self.output_dir = Path(output_dir)
        self.output_dir.mkdir(parents=True, exist_ok=True)
        self.enabled = enabled
        #: id of a registered module -> its path
        self.module_paths: dict[int, str] = {}
        self._registered: dict[int, weakref.ref[Any]] = {}

    def register_modules(
        self,
        model: Any,
        target_classes: type | tuple[type, ...] | None = None,
        target_names: Iterable[str] | None = None,
        exclude_names: Iterable[str] | None = None,
        *,
        unwrap: bool = False,
    ) -> None:
        """Registers those of the model's modules that are of one of the classes (None: any), and
        whose path contains one of the names, if any are given, and none of the excluded ones.

        The model itself is called "root". With `unwrap` the paths are those within the module
        that torch.compile, DistributedDataParallel, DataParallel or FSDP wraps.
        """
        selection = Selection(target_classes, target_names, exclude_names, unwrap=unwrap)
        for path, module in selection.find(model):
            self._register(module, path)
        selection.warn_of_unmatched("register_modules", model)

    def get_module_path(self, module: Any) -> str:
        """The path that the module was registered under, "unknown" if it was not."""
        key = id(module)
        reference = self._registered.get(key)
        if reference is not None and reference() is not module:
            return _UNKNOWN  # that one has gone, and this one has its address
        return self.module_paths.get(key, _UNKNOWN)

    def __getstate__(self) -> dict[str, Any]:
        # A copy, as in another process, has other modules.
        return self.__dict__ | {"module_paths": {}, "_registered": {}}

    def _register(self, module: Any, path: str) -> None:
        key = id(module)
        self.module_paths[key] = path
        self._registered[key] = weakref.ref(module)


class Selection:
    """The modules of a model that register_modules registers."""

    def __init__(
        self,
        target_classes: type | Iterable[type] | None = None,
        target_names: Iterable[str] | None = None,
        exclude_names: Iterable[str] | None = None,
        *,
        unwrap: bool = False,
    ) -> None:
        self._classes = _as_classes(target_classes)
        self._names = _as_names(target_names)
        self._excluded = _as_names(exclude_names)
        self._unwrap = unwrap

    def find(self, model: Any) -> Iterator[tuple[str, Any]]:
        """(path, module), in the model's order."""
        for path, module in self._list(model):
            if not isinstance(module, self._classes):
                continue
            if self._names and not any(part in path for part in self._names):
                continue
            if not any(part in path for part in self._excluded):
                yield path, module

    def warn_of_unmatched(self, who: str, model: Any) -> None:
        """Logs which names and classes select nothing in the model. All together may select
        nothing where each does. `who`: the function that was called with them."""
        modules = list(self._list(model))
        kind = type(model).__name__
        missing = [name for name in self._names if not any(name in path for path, _ in modules)]
        for name in missing:
            parts = _list_parts([path for path, _ in modules], name.count(".") + 1)
            near = _nearest.suggest(name, parts)
            logger.warning("%s: no module's path in %s contains %r%s", who, kind, name, near)
        if not any(isinstance(module, self._classes) for _, module in modules):
            there = dict.fromkeys(type(module).__name__ for _, module in modules)
            some = _nearest.list_some(there)
            logger.warning(
                "%s: %s has no %s; there are %s", who, kind, _name_classes(self._classes), some
            )
        elif not missing and next(self.find(model), None) is None:
            logger.warning("%s: no module in %s meets all conditions together", who, kind)

    def _list(self, model: Any) -> Iterator[tuple[str, Any]]:
        if self._unwrap:
            model = unwrap_model(model)
        for name, module in model.named_modules():
            yield (_cut_wrappers(model, name) if self._unwrap else name) or _ROOT, module


def _list_parts(paths: Iterable[str], count: int) -> Iterator[str]:
    """What a name of so many segments can be contained as."""
    for path in paths:
        segments = path.split(".")
        for start in range(len(segments) - count + 1):
            yield ".".join(segments[start : start + count])


def _as_classes(classes: type | Iterable[type] | None) -> type | tuple[type, ...]:
    if classes is None:
        return object
    return classes if isinstance(classes, type) else tuple(classes)


def _name_classes(classes: type | tuple[type, ...]) -> str:
    kinds = classes if isinstance(classes, tuple) else (classes,)
    return " or ".join(kind.__name__ for kind in kinds) or "module of these classes: () is none"


def _as_names(names: Iterable[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _inner_name(module: Any) -> str | None:
    """Under which name a module holds the one that it wraps; None if it wraps none."""
    for kind in type(module).__mro__:
        if kind.__module__.startswith("torch.") and kind.__name__ in _WRAPPERS:
            return _WRAPPERS[kind.__name__]
    return None


def unwrap_model(model: Any) -> Any:
    """The model that torch.compile, DistributedDataParallel, DataParallel or FSDP wraps."""
    while (name := _inner_name(model)) is not None:
        model = getattr(model, name)
    return model


def _cut_wrappers(model: Any, path: str) -> str:
    """The path without the parts that stand for a wrapper's inner module."""
    kept = []
    module = model
    for part in path.split(".") if path else ():
        if _inner_name(module) != part:
            kept.append(part)
        module = getattr(module, part)
    return ".".join(kept)
