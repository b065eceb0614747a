"""CallTracer: the order in which modules are called."""

from __future__ import annotations

import logging
import os
import weakref
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitorch._compile import compiled as _compiled
from monitorch._record import observe as _observe
from monitorch.spy._leaves import find_leaves
from monitorch.spy.base import BaseDebugger, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


logger = logging.getLogger(__name__)


class TracedCall(str):
    """The path of a called module, with the shapes of its inputs and outputs.

    Attributes:
        shape (str): for example ``"[2, 8] -> [2, 4]"``.
    """

    __slots__ = ("shape",)

    shape: str

    def __new__(cls, path: str, shape: str) -> TracedCall:
        call = super().__new__(cls, path)
        call.shape = shape
        return call

    def __reduce__(self) -> tuple[type[TracedCall], tuple[str, str]]:
        return TracedCall, (str(self), self.shape)


class HookHandle:
    """The hooks of one module for one CallTracer.

    Attributes:
        path (str): the module's path.
        module (Module or None): the module; ``None`` after it was freed or the hooks removed.
    """

    def __init__(self, module: Any, path: str, hook: Callable[..., None]) -> None:
        self.path = path
        self._module = weakref.ref(module)
        self._is_there = True
        self._handle = module.register_forward_hook(hook, with_kwargs=True)
        _compiled.add_module_hook(hook)
        self._observation = _observe.observe(module, path)

    @property
    def module(self) -> Any:
        """The module; ``None`` after it was freed or the hooks were removed."""
        return self._module() if self._is_there else None

    def remove(self) -> None:
        """Removes the hooks. May be called again."""
        self.detach()
        _compiled.forget_compiled()

    def detach(self) -> None:
        """Removes the hooks; code that torch.compile has compiled may still call them."""
        self._is_there = False
        self._handle.remove()
        if self._observation is not None:
            self._observation.remove()


class CallTracer(BaseDebugger):
    """Records the paths of modules in the order in which their calls end, by forward hooks.

    A module inside another one ends first and is listed first. As a context manager the tracer
    is enabled and cleared on entry; its hooks stay after the block unless `remove` is ``True``.
    While monitorch records, the trace gets these calls too, with their inputs and outputs.

    Args:
        output_dir (str or PathLike): the folder of `save_trace`. It is created if it does not
            exist.
        enabled (bool, optional): if ``False``, calls are not recorded. Default: ``True``
        remove (bool, optional): if ``True``, the end of the ``with`` block removes the hooks.
            Default: ``False``

    Attributes:
        call_trace (list[str]): the paths, in order.
        hooks (list[HookHandle]): one handle for each hooked module.

    Example::

        >>> tracer = CallTracer("./traces")
        >>> tracer.register_hooks(model, target_classes=(nn.Linear,))
        >>> model(inputs)
        >>> tracer.get_trace()
        ['encoder.0', 'encoder.1', 'head']
        >>> tracer.save_trace("forward.txt")
    """

    def __init__(
        self, output_dir: str | os.PathLike[str], enabled: bool = True, *, remove: bool = False
    ) -> None:
        super().__init__(output_dir, enabled)
        self.call_trace: list[str] = []
        self.hooks: list[HookHandle] = []
        self._removes = remove

    def register_hooks(
        self,
        model: Any,
        target_classes: type | Iterable[type] | None = None,
        target_names: Iterable[str] | None = None,
        exclude_names: Iterable[str] | None = None,
        *,
        shapes: bool = False,
        remove: bool | None = None,
        unwrap: bool = False,
    ) -> None:
        """Hooks the modules that `register_modules` would register.

        A module that is hooked already keeps its hook and its path. A ScriptModule accepts no
        hooks; a warning names it.

        Args:
            model (Module): the model. Its own path is ``"root"``.
            target_classes (type or iterable of types, optional): the classes to hook; ``None`` is
                all. Default: ``None``
            target_names (iterable of str, optional): parts of paths, of which one must occur.
                Default: ``None``
            exclude_names (iterable of str, optional): parts of paths that must not occur.
                Default: ``None``
            shapes (bool, optional): if ``True``, each recorded call has a `shape`, and `save_trace`
                writes it. Default: ``False``
            remove (bool, optional): if given, replaces the tracer's own `remove`.
            unwrap (bool, optional): if ``True``, paths begin inside what ``torch.compile``,
                DistributedDataParallel, DataParallel or FSDP wraps. Default: ``False``
        """
        if remove is not None:
            self._removes = remove
        hooked = {id(hook.module) for hook in self.hooks if hook.module is not None}
        selection = Selection(target_classes, target_names, exclude_names, unwrap=unwrap)
        for path, module in selection.find(model):
            if id(module) not in hooked:
                self._register(module, path)
                self._hook(module, path, shapes)
        selection.warn_of_unmatched("register_hooks", model)
        _compiled.forget_compiled()

    @property
    def call_counts(self) -> Counter[str]:
        """The number of calls of each path, as a `Counter`; 0 for a path that was never called."""
        return Counter(map(str, self.call_trace))

    def get_trace(self) -> list[str]:
        """Returns a copy of the paths, in the order of the calls."""
        return list(self.call_trace)

    def save_trace(self, filename: str = "call_trace.txt") -> Path:
        """Writes the paths to a text file in `output_dir`, one on each line.

        With ``shapes=True``, a tab and the shapes follow each path.

        Args:
            filename (str, optional): the name of the file. Default: ``"call_trace.txt"``

        Returns:
            Path: the path of the file.
        """
        path = self.output_dir / filename
        path.write_text("\n".join(_write_line(call) for call in self.get_trace()), "utf-8")
        return path

    def reset_trace(self) -> None:
        """Removes all recorded calls."""
        self.call_trace.clear()

    def remove_hooks(self) -> None:
        """Removes all hooks. The recorded calls stay."""
        if self.hooks:
            for hook in self.hooks:
                hook.detach()
            self.hooks.clear()
            _compiled.forget_compiled()

    def _hook(self, module: Any, path: str, shapes: bool) -> None:
        try:
            self.hooks.append(HookHandle(module, path, self._make_hook(path, shapes)))
        except RuntimeError as error:  # a ScriptModule
            logger.warning("Calls of module '%s' are not traced: %s", path, error)

    def _make_hook(self, path: str, shapes: bool) -> Callable[..., None]:
        reference = weakref.ref(self)  # torch.compile keeps hooks for ever

        def trace(module: Any, args: Any, kwargs: dict[str, Any], output: Any) -> None:
            tracer = reference()
            if tracer is not None and tracer.enabled:
                call = TracedCall(path, _describe(args, kwargs, output)) if shapes else path
                tracer.call_trace.append(call)

        return trace

    def __repr__(self) -> str:
        state = "on" if self.enabled else "off"
        return (
            f"<monitorch CallTracer to {os.fspath(self.output_dir)!r}, {state}, "
            f"{len(self.hooks):,} modules hooked, {len(self.call_trace):,} calls traced>"
        )

    def __enter__(self) -> CallTracer:
        self.enabled = True
        self.reset_trace()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._removes:
            self.remove_hooks()


def _write_line(call: str) -> str:
    return f"{call}\t{call.shape}" if isinstance(call, TracedCall) else call


def _describe(args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> str:
    """The shapes of the input and output tensors: "[2, 8] -> [2, 4]"."""
    return f"{_list_shapes((*args, *kwargs.values()))} -> {_list_shapes(output)}"


def _list_shapes(value: Any) -> str:
    return ", ".join(str(list(tensor.shape)) for _, tensor in find_leaves(value))
