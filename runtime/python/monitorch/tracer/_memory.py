"""The memory that holds copies of tensors: the process's own, or a file's above a limit."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import tempfile
import weakref
from typing import Any

_GRANULE = mmap.ALLOCATIONGRANULARITY
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
# Page faults cost more time than the copies themselves. So large blocks use large pages, and others
# are mapped with all their pages at once.
_LARGE_PAGE = 2 << 20
_AT_ONCE = getattr(mmap, "MAP_POPULATE", 0)
_IN_LARGE_PAGES = getattr(mmap, "MADV_HUGEPAGE", None)
# Freed memory is kept for later values: its pages are mapped already.
_KEPT_SIZE = 64 << 20
_KEPT_COUNT = 64

_kept: list[mmap.mmap] = []


def _round(size: int) -> int:
    """The size rounded up to whole pages, at least one."""
    return -(-max(size, 1) // _GRANULE) * _GRANULE


def _map(size: int) -> mmap.mmap:
    if size < _LARGE_PAGE or _IN_LARGE_PAGES is None:
        return mmap.mmap(-1, size, flags=_PRIVATE | _AT_ONCE)
    mapping = mmap.mmap(-1, size, flags=_PRIVATE)
    with contextlib.suppress(OSError):  # without large pages the system uses small ones
        mapping.madvise(_IN_LARGE_PAGES)
    return mapping


def _find_kept(size: int) -> mmap.mmap | None:
    for mapping in list(_kept):
        if len(mapping) == size:
            try:
                _kept.remove(mapping)
            except ValueError:  # another thread has removed it
                continue
            return mapping
    return None


def _keep(mapping: mmap.mmap) -> None:
    if len(_kept) < _KEPT_COUNT and sum(map(len, _kept)) + len(mapping) <= _KEPT_SIZE:
        _kept.append(mapping)


class Memory:
    """Provides memory. Above `limit` bytes it uses an unnamed file, which the system writes to the
    disk when it needs the memory, and which is deleted with the last tensor in it."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.used = 0
        self.spilled = 0  # in bytes of the file
        self._file: Any = None

    def chunk(self, size: int) -> tuple[Any, int]:
        """Returns memory of that size: its owner and its address."""
        owner = self._make(_round(size))
        return owner, ctypes.addressof(ctypes.c_char.from_buffer(owner))

    def _make(self, size: int) -> Any:
        if self.limit is not None and self.used + size > self.limit:
            return self._make_in_file(size)
        mapping = _find_kept(size) or _map(size)
        owner = memoryview(mapping)
        weakref.finalize(owner, self._reclaim, mapping).atexit = False
        self.used += size
        return owner

    def _reclaim(self, mapping: mmap.mmap) -> None:
        """Reuses the memory of a freed tensor."""
        self.used -= len(mapping)
        _keep(mapping)

    def _make_in_file(self, size: int) -> mmap.mmap:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="monitorch-")
        number, start = self._file.fileno(), self.spilled
        # Reserved now: a full disk raises OSError here, and no signal later.
        os.posix_fallocate(number, start, size)
        self.spilled += size
        return mmap.mmap(number, size, offset=start)

    def settle(self, values: list[Any]) -> None:
        """Moves tensors that were gathered, or made by callbacks, into the file if they exceed the
        limit."""
        if self.limit is None:
            return
        for index, value in enumerate(values):
            if not _is_plain_tensor(value):
                continue
            if self.used + value.nbytes <= self.limit:
                self.used += value.nbytes  # as long as the results exist
            else:
                owner = self._make_in_file(_round(value.nbytes))
                name = str(value.dtype).partition(".")[2]
                values[index] = make_tensor(owner, 0, value.numel(), name, tuple(value.shape))
                values[index].copy_(value)


def _is_plain_tensor(value: Any) -> bool:
    import torch

    return (
        type(value) is torch.Tensor
        and value.device.type == "cpu"
        and value.layout is torch.strided
        and not value.is_quantized
    )


def make_tensor(
    owner: Any,
    offset: int,
    count: int,
    dtype: str,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
) -> Any:
    """A tensor of the values at that offset of the memory; without strides in row-major order."""
    import torch

    kind = getattr(torch, dtype)
    with torch.inference_mode(False):  # training may use tensors that were traced in inference mode
        if count == 0:
            return torch.empty(shape, dtype=kind, device="cpu")
        values = torch.frombuffer(owner, dtype=kind, count=count, offset=offset)
        return values.view(shape) if strides is None else values.as_strided(shape, strides)
