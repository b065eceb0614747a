"""CallTracer: which modules were called, in which order."""

from __future__ import annotations

import logging
import os
import weakref
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitorch import _compiled, _observe
from monitorch.spy._leaves import find_leaves
from monitorch.spy.base import BaseDebugger, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


logger = logging.getLogger(__name__)


class TracedCall(str):
    """A module's path, and what went into that call of it and what came out: its `shape` is
    "[2, 8] -> [2, 4]"."""

    __slots__ = ("shape",)

    shape: str

    def __new__(cls, path: str, shape: str) -> TracedCall:
        call = super().__new__(cls, path)
        call.shape = shape
        return call

    def __reduce__(self) -> tuple[type[TracedCall], tuple[str, str]]:
        return TracedCall, (str(self), self.shape)


class HookHandle:
    """The hooks that one module has for a tracer."""

    def __init__(self, module: Any, path: str, hook: Callable[..., None]) -> None:
        self.path = path
        self._module = weakref.ref(module)
        self._is_there = True
        self._handle = module.register_forward_hook(hook, with_kwargs=True)
        _compiled.add_module_hook(hook)
        self._observation = _observe.observe(module, path)

    @property
    def module(self) -> Any:
        """The module; None where it is gone, or the hooks are."""
        return self._module() if self._is_there else None

    def remove(self) -> None:
        """Takes them away; may be called again."""
        self.take_away()
        _compiled.forget_compiled()

    def take_away(self) -> None:
        """The same, but code that torch.compile has made may go on calling them."""
        self._is_there = False
        self._handle.remove()
        if self._observation is not None:
            self._observation.remove()


class CallTracer(BaseDebugger):
    """Writes down the paths of the modules that are called, by forward hooks: each module when
    its forward has ended, so those inside another one stand before it.

        tracer = CallTracer("./traces")
        tracer.register_hooks(model, target_classes=(nn.Linear,))
        model(inputs)
        tracer.save_trace("forward.txt")

    As a context manager it is enabled and begins anew on entry; its hooks stay where it is left,
    unless `remove` was asked for, here or in register_hooks.

    While monitorch records, the calls stand in that trace too, with their inputs and outputs.
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
        """Hooks the modules that register_modules would register; the model itself is "root".

        A module that is hooked already goes on under the path that it has. With `shapes`, each
        call has a `shape`, which save_trace writes too. `remove` says whether the end of the
        `with` block takes the hooks away.
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
        """Path -> how often that module was called; 0 for a path that never was."""
        return Counter(map(str, self.call_trace))

    def get_trace(self) -> list[str]:
        """The paths in the order of the calls: a copy."""
        return list(self.call_trace)

    def save_trace(self, filename: str = "call_trace.txt") -> Path:
        """Writes one path a line into the folder, and a tab and the shape behind it where that
        was asked for; gives the file's path."""
        path = self.output_dir / filename
        path.write_text("\n".join(_write_line(call) for call in self.get_trace()), "utf-8")
        return path

    def reset_trace(self) -> None:
        """Forgets the calls so far."""
        self.call_trace.clear()

    def remove_hooks(self) -> None:
        """Takes the hooks away; what was traced stays."""
        if self.hooks:
            for hook in self.hooks:
                hook.take_away()
            self.hooks.clear()
            _compiled.forget_compiled()

    def _hook(self, module: Any, path: str, shapes: bool) -> None:
        try:
            self.hooks.append(HookHandle(module, path, self._make_hook(path, shapes)))
        except RuntimeError as error:  # a ScriptModule
            logger.warning("The calls of module '%s' are not traced: %s", path, error)

    def _make_hook(self, path: str, shapes: bool) -> Callable[..., None]:
        reference = weakref.ref(self)  # torch.compile never lets go of a hook

        def trace(module: Any, args: Any, kwargs: dict[str, Any], output: Any) -> None:
            tracer = reference()
            if tracer is not None and tracer.enabled:
                call = TracedCall(path, _describe(args, kwargs, output)) if shapes else path
                tracer.call_trace.append(call)

        return trace

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
    """The shapes of the tensors that went in and of those that came out: "[2, 8] -> [2, 4]"."""
    return f"{_list_shapes((*args, *kwargs.values()))} -> {_list_shapes(output)}"


def _list_shapes(value: Any) -> str:
    return ", ".join(str(list(tensor.shape)) for _, tensor in find_leaves(value))
