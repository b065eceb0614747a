"""What TensorSaver and CallTracer have in common: modules known by their paths."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        for path, module in select_modules(
            model, target_classes, target_names, exclude_names, unwrap=unwrap
        ):
            self._register(module, path)

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


def select_modules(
    model: Any,
    target_classes: type | Iterable[type] | None = None,
    target_names: Iterable[str] | None = None,
    exclude_names: Iterable[str] | None = None,
    *,
    unwrap: bool = False,
) -> Iterator[tuple[str, Any]]:
    """(path, module) of the modules that register_modules registers, in the model's order."""
    classes: type | tuple[type, ...] = object
    if target_classes is not None:
        classes = target_classes if isinstance(target_classes, type) else tuple(target_classes)
    wanted = _as_names(target_names)
    excluded = _as_names(exclude_names)
    if unwrap:
        model = unwrap_model(model)
    for name, module in model.named_modules():
        path = (_cut_wrappers(model, name) if unwrap else name) or _ROOT
        if not isinstance(module, classes):
            continue
        if wanted and not any(part in path for part in wanted):
            continue
        if not any(part in path for part in excluded):
            yield path, module


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
