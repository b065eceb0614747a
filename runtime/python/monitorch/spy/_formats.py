"""The file formats of TensorSaver: a file for each tensor (pt), or for each context (safetensors,
mtrace)."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch.spy import _ownership
from monitorch.spy._ownership import Owner, Ownership

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitorch.spy._names import FullName


def make_format(name: str, ownership: Ownership) -> PtFiles | ContextFiles:
    """Makes the format of that name. Raises ValueError if there is none."""
    if name == "pt":
        return PtFiles(ownership)
    if name == "safetensors":
        return ContextFiles(ownership, ".safetensors", _recorder.SafetensorsWriter)
    if name == "mtrace":
        return ContextFiles(ownership, ".mtrace", _recorder.TraceWriter)
    raise ValueError(f"format must be 'pt', 'safetensors' or 'mtrace', not {name!r}")


class PtFiles:
    """Files `{full name}.call{n}.pt`, each with one tensor."""

    def __init__(self, ownership: Ownership) -> None:
        self._ownership = ownership

    def save(
        self,
        folder: str,
        name: FullName,
        leaves: list[tuple[str, Any]],
        call: int,
        advance: Callable[[int], int],
        norm_only: bool,
    ) -> None:
        """Saves under the number `call`, or a later one whose files do not exist.

        `leaves` has each tensor with its path in the value. `folder` ends with a slash.
        `advance(call)` returns the next number to try if files of that one exist.
        """
        ownership, owners = self._ownership, _ownership.owners
        may_replace, process = ownership.overwrite is True, os.getpid()
        for leaf, tensor in leaves:
            stem = folder + _recorder.saved_file_stem(name + leaf)
            path = f"{stem}.call{call}.pt"
            key = name.prefix, name.module_path, name.name + leaf, call
            is_written = False
            with _ownership.lock:
                is_new = not ownership.expects_files and path not in owners
                if is_new:
                    # Same as Owner(...), which would call a Python function.
                    owners[path] = tuple.__new__(Owner, (process, ownership.serial, path))
                    _ownership.unfinished.add(path)
            try:
                is_written = is_new and "exists" != _recorder.save_pt(
                    path,
                    tensor,
                    key,
                    may_replace=may_replace,
                    norm_only=norm_only,
                    place=name.place,
                )
            finally:
                if is_new:
                    _ownership.unfinished.discard(path)
                if is_new and not is_written:
                    owners.pop(path, None)
            if not is_written:
                call = self._save_elsewhere(stem, tensor, name, leaf, call, advance, norm_only)

    def _save_elsewhere(
        self,
        stem: str,
        tensor: Any,
        name: FullName,
        leaf: str,
        call: int,
        advance: Callable[[int], int],
        norm_only: bool,
    ) -> int:
        """Saves a tensor whose file exists, or was written by this process before."""

        def write(path: str, number: int, may_replace: bool) -> bool:
            result = _recorder.save_pt(
                path,
                tensor,
                name.key(leaf, number),
                may_replace=may_replace,
                norm_only=norm_only,
                place=name.place,
            )
            return result != "exists"

        return self._ownership.write(lambda number: f"{stem}.call{number}.pt", call, advance, write)

    def end(self, context: int) -> None:
        """Does nothing: each file is written at once."""

    def reset(self) -> None:
        """Does nothing: the names of files depend only on the numbers of calls."""

    def close(self) -> None:
        """Does nothing: each file is written at once."""


class ContextFiles:
    """Files `{prefix}.context{n}.{suffix}`, each with all tensors of one context.

    Tensors saved outside of any context are in a file that close() ends.
    """

    def __init__(self, ownership: Ownership, suffix: str, make_writer: Any) -> None:
        self._ownership = ownership
        self._suffix = suffix
        self._make_writer = make_writer
        self._counts: dict[str, int] = {}
        self._lock = threading.RLock()
        self._writers: dict[int, _Writer] = {}  # by number of the context; 0: no context
        self._process = os.getpid()
        weakref.finalize(self, _finish_all, self._writers)

    def save(
        self,
        folder: str,
        name: FullName,
        leaves: list[tuple[str, Any]],
        call: int,
        advance: Callable[[int], int],
        norm_only: bool,
    ) -> None:
        """Saves under the number `call`, or a later one that no other saver has used in this
        folder."""

        def find_name(number: int) -> str:
            return os.path.join(folder, f"{name}.call{number}")

        with self._lock:
            key = 0 if name.context is None else name.context.number
            writer = self._writers.get(key)
            if writer is None or writer.process != os.getpid():
                writer = self._writers[key] = self._open(folder, name.prefix, writer)
                self._see_to_the_end()
            call = self._ownership.claim(find_name, call, advance, writer.path)
            for leaf, tensor in leaves:
                writer.file.add(tensor, name.key(leaf, call), place=name.place, norm_only=norm_only)

    def end(self, context: int) -> None:
        """Finishes the file of the context with that number, which has ended."""
        with self._lock:
            writer = self._writers.pop(context, None)
        _finish(writer)

    def reset(self) -> None:
        """Finishes all files, and starts again with the first file."""
        with self._lock:
            _finish_all(self._writers)
            self._counts.clear()

    def close(self) -> None:
        """Finishes the files of all contexts."""
        with self._lock:
            _finish_all(self._writers)

    def _see_to_the_end(self) -> None:
        """Makes a child of multiprocessing finish its files: it exits without calling atexit
        functions."""
        util = sys.modules.get("multiprocessing.util")
        if util is not None and self._process != os.getpid():
            self._process = os.getpid()
            util.Finalize(None, _finish_all, args=(self._writers,), exitpriority=0)

    def _open(self, folder: str, prefix: str, former: _Writer | None) -> _Writer:
        stem = _recorder.saved_file_stem(prefix)
        stem = os.path.join(folder, stem + "." if stem else "")
        made: list[_Writer] = []

        def open_file(path: str, number: int, may_replace: bool) -> bool:
            if not may_replace and os.path.lexists(path):
                return False
            made.append(_Writer(path, self._make_writer(path), former))
            return True

        number = self._ownership.write(
            lambda number: f"{stem}context{number}{self._suffix}",
            self._counts.get(stem, 0),
            lambda number: number + 1,
            open_file,
            is_whole=False,
        )
        self._counts[stem] = number + 1
        return made[0]


class _Writer:
    """A file in writing, by the process that began it."""

    def __init__(self, path: str, file: Any, former: _Writer | None) -> None:
        self.path = path
        self.file = file
        self.process = os.getpid()
        # In a forked process, the parent's writer, which must not be used or freed here.
        self.former = former


def _finish(writer: _Writer | None) -> None:
    if writer is not None and writer.process == os.getpid():
        try:
            writer.file.finish()
        finally:
            _ownership.finish(writer.path)


def _finish_all(writers: dict[int, _Writer]) -> None:
    while writers:
        _finish(writers.popitem()[1])
