"""TensorSaver, DebugContext and spy_save: tensors saved from inside a forward pass."""

from __future__ import annotations

import itertools
import logging
import operator
import os
import threading
from collections import Counter
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from monitorch import _recorder
from monitorch._compile import compiled as _compiled
from monitorch._record import reported as _reported
from monitorch._recorder import is_tensor, spy_save
from monitorch.spy import _threads
from monitorch.spy._formats import make_format
from monitorch.spy._leaves import find_leaves
from monitorch.spy._names import FullName
from monitorch.spy._ownership import Ownership
from monitorch.spy.base import BaseDebugger, find_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitorch.spy import _wishes
    from monitorch.spy._threads import Contexts

__all__ = ["DebugContext", "TensorSaver", "get_debug_context", "spy_save"]

logger = logging.getLogger(__name__)

# The open contexts as (innermost, (next, …)): contexts may be closed in another order than they
# were opened in, as tasks and generators do.
_contexts: ContextVar[Contexts | None] = ContextVar("monitorch_spy_contexts", default=None)
_open_lock = threading.Lock()
_numbers = itertools.count(1)
_recorder.spy_begin(_contexts.get)
_compiled.add_save(spy_save)


def get_debug_context() -> DebugContext | None:
    """Returns the innermost open context of this thread or asyncio task.

    Returns:
        DebugContext or None: ``None`` if no context is open.
    """
    contexts = _contexts.get()
    return None if contexts is None else contexts[0]


class TensorSaver(BaseDebugger):
    """Saves tensors as files in a folder and numbers them by name.

    Each tensor is saved detached, on the CPU, as ``{name}.call{n}.pt``; ``torch.load(path,
    weights_only=True)`` reads it. `n` counts from 0 for each name.

    Args:
        output_dir (str or PathLike): the folder. It is created if it does not exist.
        enabled (bool, optional): if ``False``, nothing is saved. May be changed at any time.
            Default: ``True``
        format (str, optional): ``"pt"`` writes one file for each tensor; ``"safetensors"`` and
            ``"mtrace"`` write one file for each context. Default: ``"pt"``
        overwrite (bool, optional): ``True`` replaces files that exist, ``False`` raises
            :class:`FileExistsError`, and ``None`` replaces only files of earlier runs and logs one
            warning. Default: ``None``
        names (str or iterable of str, optional): globs of variable names, such as
            ``"q,attn*"``. Instrumented code then saves these variables without a call of
            `spy_save`.
        modules (str or iterable of str, optional): globs of module paths, such as
            ``"encoder.*"``.
        lines (int, str or iterable, optional): lines, such as ``12``, ``"10-20"`` or
            ``"model.py:12"``.
        calls (int or container of int, optional): numbers of values of one name, from 0, such as
            ``range(0, 100, 10)``.
        when (str or callable, optional): ``"nan"``, ``"inf"``, ``"nonfinite"``, or a function
            that receives a tensor and returns whether to save it.

    `names`, `modules`, `lines`, `calls` and `when` narrow each other down. They need code that
    monitorch instruments. If all are ``None``, only `spy_save` saves.

    Attributes:
        call_counts (Counter): how many tensors were saved under each name.

    Raises:
        ValueError: if `format`, `lines`, `calls` or `when` has no such value.

    Example::

        >>> saver = TensorSaver("./debug_tensors")
        >>> saver.register_modules(model)
        >>> with DebugContext(saver, prefix="step0"):
        ...     model(inputs)

        >>> saver = TensorSaver("out", names="q,k", when="nan")     # no spy_save in the code
    """

    def __init__(
        self,
        output_dir: str | os.PathLike[str],
        enabled: bool = True,
        *,
        format: Literal["pt", "safetensors", "mtrace"] = "pt",
        overwrite: bool | None = None,
        names: _wishes.Texts | None = None,
        modules: _wishes.Texts | None = None,
        lines: _wishes.Lines | None = None,
        calls: _wishes.Calls | None = None,
        when: _wishes.When | None = None,
    ) -> None:
        super().__init__(output_dir, enabled)
        #: name -> number of tensors saved under it; 0 for a name that was never saved
        self.call_counts: Counter[str] = Counter()
        self._folders: dict[str, str] = {}  # as given -> absolute, without links; ends with "/"
        self._folder: tuple[Any, str] = None, ""  # output_dir, and its value in _folders
        self._warned: set[str] = set()
        self._options = (format, overwrite)
        self._selection = (names, modules, lines, calls, when)
        self._prepare()

    def _prepare(self) -> None:
        """Creates the parts that a copy does not share."""
        format, overwrite = self._options
        self._lock = threading.Lock()
        self._format = make_format(format, Ownership(overwrite))
        self._watch: Any = None
        if any(part is not None for part in self._selection):
            from monitorch.spy._watch import Watch

            self._watch = Watch(self, *self._selection)

    def __getstate__(self) -> dict[str, Any]:
        own = ("_lock", "_format", "_watch")
        return {name: value for name, value in super().__getstate__().items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def save(
        self, name: str, tensor: Any, call_idx: int | None = None, norm_only: bool = False
    ) -> None:
        """Saves a tensor as ``{name}.call{n}.pt``, with or without an open context.

        Of a tuple, list, dict, named tuple or dataclass it saves each tensor, for example as
        ``name[0]`` or ``name['k']``.

        Args:
            name (str): the name of the file, without ``.call{n}.pt``.
            tensor (Tensor, ndarray or container of them): the value. It is saved detached, on the
                CPU.
            call_idx (int, optional): the number `n`. By default `n` counts up for each name.
            norm_only (bool, optional): if ``True``, saves the L2 norm of each row of the first
                dimension instead of the tensor. Default: ``False``

        Raises:
            FileExistsError: if the file exists and the saver has ``overwrite=False``.
            OSError: if the file cannot be written. No partial file is left.
            TypeError: if the tensor has no values (meta device, ``vmap``).
            ValueError: if `call_idx` is negative.

        Example::

            >>> saver.save("logits", logits)
            >>> torch.load("debug_tensors/logits.call0.pt", weights_only=True)
        """
        if not self.enabled:
            return
        full_name = name if isinstance(name, FullName) else self._full_name(name)
        leaves = [("", tensor)] if is_tensor(tensor) else find_leaves(tensor)
        if not leaves:
            self._warn_of_nothing(full_name, tensor)
            return
        advance: Callable[[int], int]
        if call_idx is None:
            key = str(full_name)
            with self._lock:
                call = self.call_counts.get(key, 0)
                self.call_counts[key] = call + 1
            advance = partial(self._count, full_name)
        else:
            call, advance = _check_call(call_idx), (1).__add__
        if self._folder[0] is not self.output_dir:
            self._find_folder()
        self._format.save(self._folder[1], full_name, leaves, call, advance, norm_only)
        if _recorder.is_recording():
            _reported.report(TensorSaver.save, {full_name.of_module(): tensor})

    def reset_counts(self) -> None:
        """Starts counting from 0 again. Later saves replace what this saver has saved."""
        with self._lock:
            self.call_counts.clear()
        self._format.reset()

    def close(self) -> None:
        """Finishes files that hold more than one tensor (``"safetensors"`` and ``"mtrace"``).

        The files of contexts are finished when the contexts end, and all files when the saver is
        freed or the program exits.
        """
        self._format.close()

    def __repr__(self) -> str:
        state = "on" if self.enabled else "off"
        count, names = sum(self.call_counts.values()), len(self.call_counts)
        saved = f"{count:,} values of {names:,} names saved" if count else "nothing saved"
        return f"<monitorch TensorSaver to {os.fspath(self.output_dir)!r}, {state}, {saved}>"

    def _full_name(self, name: object) -> FullName:
        context = get_debug_context()
        is_in = context is not None and context.saver is self
        return FullName.of("", "", str(name), context if is_in else None)

    def _count(self, full_name: FullName, former: int) -> int:
        """The next number of the name, above `former`, that no other thread has."""
        key = str(full_name)
        with self._lock:
            call = max(self.call_counts.get(key, 0), former + 1)
            self.call_counts[key] = call + 1
        return call

    def _warn_of_nothing(self, full_name: FullName, value: object) -> None:
        """Warns once for each name: a mask may be None in each of many calls."""
        if full_name not in self._warned:
            self._warned.add(str(full_name))
            kind = type(value).__name__
            logger.warning("No tensor in '%s' (%s): nothing was saved", full_name, kind)

    def _find_folder(self) -> None:
        given = os.fspath(self.output_dir)
        folder = self._folders.get(given)
        if folder is None:
            folder = self._folders[given] = os.path.join(os.path.realpath(given), "")
        self._folder = self.output_dir, folder

    def _begin(self) -> None:
        """Called when a context is entered."""
        if self._watch is not None:
            self._watch.begin()

    def _end(self, context: DebugContext, is_last: bool) -> None:
        """Called when a context ends. `is_last`: it is open nowhere now."""
        if self._watch is not None:
            self._watch.end()
        if is_last:
            self._format.end(context.number)


def _check_call(call_idx: int) -> int:
    call = operator.index(call_idx)
    if call < 0:
        raise ValueError(f"call_idx must be 0 or more, not {call}")
    return call


class DebugContext:
    """Context manager in which `spy_save` saves with a saver.

    A context is open for the thread or asyncio task that entered it, and for tasks created in it.
    Contexts nest: the innermost one saves. One context may be entered several times.

    Args:
        saver (TensorSaver): the saver, or any object with ``get_module_path(module)`` and
            ``save(name, tensor)``.
        prefix (str, optional): the first part of all names. Default: ``""``
        module_path_override (str, optional): replaces the paths of all modules.
            Default: ``None``
        threads (bool, optional): if ``True``, the context is open too in threads started in it
            and in jobs submitted to a ``ThreadPoolExecutor`` in it. Default: ``False``

    Attributes:
        saver, debugger: the saver, under its two names.
        prefix (str): may be changed while the context is open.

    Example::

        >>> for step, batch in enumerate(batches):
        ...     with DebugContext(saver, prefix=f"step{step}"):
        ...         model(batch)
    """

    def __init__(
        self,
        saver: Any,
        prefix: str = "",
        module_path_override: str | None = None,
        *,
        threads: bool = False,
    ) -> None:
        self.saver = saver
        self.prefix = prefix
        self.module_path_override = module_path_override
        self.threads = threads
        self.number = next(_numbers)  # unique among all contexts
        self._open_count = 0

    @property
    def debugger(self) -> Any:
        """The saver, by its older name."""
        return self.saver

    def __repr__(self) -> str:
        state = "open" if self._open_count else "not open"
        return f"<monitorch DebugContext {self.prefix!r}, {state}, of {self.saver!r}>"

    def __enter__(self) -> DebugContext:
        if isinstance(self.saver, TensorSaver):
            self.saver._begin()
        if self.threads:
            _threads.begin(_contexts)
        _compiled.begin_saving()
        with _open_lock:
            self._open_count += 1
        _contexts.set((self, _contexts.get()))
        return self

    def __exit__(self, *exception: object) -> None:
        _contexts.set(_without(_contexts.get(), self))
        with _open_lock:
            if self._open_count == 0:
                return  # it was left before, without being open
            self._open_count -= 1
            is_last = self._open_count == 0
        _compiled.end_saving()
        if self.threads:
            _threads.end()
        if isinstance(self.saver, TensorSaver):
            self.saver._end(self, is_last)

    def _save(self, name: object, tensor: Any, module: Any = None) -> None:
        """Saves for `spy_save`. A derived class may override it."""
        saver = self.saver
        if not getattr(saver, "enabled", True):
            return
        path = None
        if self.module_path_override is None and module is not None:
            path = find_path(saver, module)
            if path == "unknown":
                logger.warning(
                    "Module path unknown for tensor '%s': %s is not registered, so nothing was "
                    "saved; call register_modules(model) first",
                    name,
                    type(module).__name__,
                )
                return
        path = self.module_path_override or path or "manual"
        prefix = "" if self.prefix is None else str(self.prefix)
        saver.save(FullName.of(prefix, path, str(name), self), tensor)


def _without(contexts: Contexts | None, context: DebugContext) -> Contexts | None:
    """The open contexts without the innermost occurrence of this one."""
    if contexts is None:
        return None
    innermost, others = contexts
    rest: Contexts | None = others
    return rest if innermost is context else (innermost, _without(rest, context))
