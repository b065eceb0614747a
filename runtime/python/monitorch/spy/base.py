"""The modules of a model by their paths: the common base of TensorSaver and CallTracer."""

from __future__ import annotations

import logging
import os
import weakref
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitorch import _models, _nearest, _recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

logger = logging.getLogger(__name__)
_ROOT = "root"


class BaseDebugger:
    """Base of `TensorSaver` and `CallTracer`: an output folder, and modules by their paths.

    Args:
        output_dir (str or PathLike): the folder that files are written to. It is created, with its
            parents, if it does not exist.
        enabled (bool, optional): if ``False``, nothing is saved or traced. May be changed at any
            time. Default: ``True``

    Attributes:
        output_dir (Path): the folder.
        enabled (bool): as the argument.
        module_paths (dict[int, str]): the path of each registered module, by ``id(module)``.
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
        """Registers modules of a model, so that their tensors can be saved under their paths.

        A module is registered if it is of one of the classes, its path contains one of
        `target_names`, and its path contains none of `exclude_names`. May be called for several
        models. A name or class that selects nothing logs a warning with the nearest names.

        Args:
            model (Module): the model. Its own path is ``"root"``.
            target_classes (type or tuple of types, optional): the classes to register. ``None``
                registers all. Default: ``None``
            target_names (iterable of str, optional): parts of paths, of which one must occur.
                Default: ``None``
            exclude_names (iterable of str, optional): parts of paths that must not occur.
                Default: ``None``
            unwrap (bool, optional): if ``True``, paths begin inside what ``torch.compile``,
                DistributedDataParallel, DataParallel or FSDP wraps. Default: ``False``

        Example::

            >>> saver.register_modules(model, target_classes=(nn.Linear,), target_names=["encoder"])
        """
        selection = Selection(target_classes, target_names, exclude_names, unwrap=unwrap)
        for path, module in selection.find(model):
            self._register(module, path)
        selection.warn_of_unmatched("register_modules", model)

    def get_module_path(self, module: Any) -> str:
        """Returns the path under which a module was registered.

        Args:
            module (Module): the module.

        Returns:
            str: the path, or ``"unknown"`` if the module was not registered.
        """
        return _recorder.find_module_path(None, self, module)

    def __getstate__(self) -> dict[str, Any]:
        # A copy, in another process for example, has other modules.
        return self.__dict__ | {"module_paths": {}, "_registered": {}}

    def _register(self, module: Any, path: str) -> None:
        key = id(module)
        self.module_paths[key] = path
        self._registered[key] = weakref.ref(module)


#: find_path(saver, module): the result of the saver's `get_module_path`. That of BaseDebugger is
#: not called, but computed in C.
find_path: Callable[[Any, Any], str] = partial(
    _recorder.find_module_path, BaseDebugger.get_module_path
)


class Selection:
    """Selects modules of a model, as register_modules does."""

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
        """Yields (path, module) in the model's order."""
        for path, module in self._list(model):
            if not isinstance(module, self._classes):
                continue
            if self._names and not any(part in path for part in self._names):
                continue
            if not any(part in path for part in self._excluded):
                yield path, module

    def warn_of_unmatched(self, who: str, model: Any) -> None:
        """Logs which names and classes select nothing in the model.

        Each may select something while all together select nothing. `who` is the name of the
        function that the user called.
        """
        modules = list(self._list(model))
        kind = type(model).__name__
        missing = [name for name in self._names if not any(name in path for path, _ in modules)]
        for name in missing:
            parts = _list_parts([path for path, _ in modules], name.count(".") + 1)
            near = _nearest.suggest(name, parts)
            logger.warning("%s: no module path in %s contains %r%s", who, kind, name, near)
        if not any(isinstance(module, self._classes) for _, module in modules):
            there = dict.fromkeys(type(module).__name__ for _, module in modules)
            some = _nearest.list_some(there)
            logger.warning(
                "%s: %s has no %s; there are %s", who, kind, _name_classes(self._classes), some
            )
        elif not missing and next(self.find(model), None) is None:
            logger.warning("%s: no module in %s fulfils all conditions at once", who, kind)

    def _list(self, model: Any) -> Iterator[tuple[str, Any]]:
        for path, module in _models.list_modules(model, unwrap=self._unwrap):
            yield path or _ROOT, module


def _list_parts(paths: Iterable[str], count: int) -> Iterator[str]:
    """All sequences of that many segments in the paths."""
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
    names = " or ".join(kind.__name__ for kind in kinds)
    return names or "module of these classes (target_classes is empty)"


def _as_names(names: Iterable[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)
