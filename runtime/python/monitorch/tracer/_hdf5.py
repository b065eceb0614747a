"""An HDF5 file that grows by rows, is closed in between, and stays readable after a kill.

It is opened for each gathering. Between gatherings it has no mark of a writer, so any reader can
open it, even after the process was killed. Rows are written in SWMR mode (single writer, multiple
readers), in which HDF5 orders its writes so that a reader always finds whole rows, also after a
kill. Datasets are created before that, separately. A new file is created under another name and
renamed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from typing import Any

from monitorch._files import make_room
from monitorch._hdf5 import clear_mark, escape, has_mark, import_h5py, unescape
from monitorch.tracer._rows import NO_RANK, find_widest

_ENDS = {"": "values", "_iterations": "iterations", "_ranks": "ranks"}
_ROLE = "monitorch"  # attribute of monitorch's datasets: their role
_FORMATS = ("v110", "latest")  # v110 is the oldest with SWMR, so that old readers can read it
_CHUNK_BYTES = 1 << 16  # the approximate least bytes of a chunk
_CHUNK_MOST = 1 << 22
_SPARE = 1 << 18  # bytes that HDF5 needs beside the rows of a gathering
_TEXT_MOST = 64  # approximate bytes of a text
_PATIENCE = 1.0  # seconds to wait for another process that writes

logger = logging.getLogger("monitorch.tracer")
_readers: dict[str, list[Any]] = {}  # files open for reading in this process, by path
_warned: set[str] = set()


class ResultFile:
    """One file; at any time it is open for writing, for reading, or not at all."""

    def __init__(self, path: str, filters: dict[str, Any], existing_ok: bool) -> None:
        self._h5py = import_h5py("H5PYSaverCallback needs")
        self.path = path
        self._filters = filters
        self._existing_ok = existing_ok
        self._is_begun = False
        if os.path.exists(path) and not self._h5py.is_hdf5(path):
            raise ValueError(f"{path}: the file exists and is not an HDF5 file; it was not replaced")

    def is_there(self) -> bool:
        return os.path.exists(self.path)

    def read(self) -> Any:
        """The file, open for reading until the next write."""
        files = _readers.setdefault(self.path, [])
        if files and files[0]:
            return files[0]
        files[:] = [self._h5py.File(self.path, "r", swmr=True, libver=_FORMATS, locking=False)]
        return files[0]

    def names(self) -> list[str]:
        """The names of the values."""
        return [unescape(key) for key, item in self.read().items() if _role(item) == "values"]

    def close(self) -> None:
        for file in _readers.pop(self.path, []):
            with contextlib.suppress(Exception):
                file.close()

    def append(self, parts: list[tuple[str, Any, Any, Any]]) -> None:
        """Appends rows of (name, values, iterations, ranks). Raises OSError if they cannot be
        written; then none is."""
        self.close()
        try:
            if self._is_begun or os.path.exists(self.path):
                self._append(parts)
            else:
                self._begin(parts)
        except (OSError, RuntimeError, ValueError) as error:
            raise OSError(f"{type(error).__name__}: {error}") from error
        self._is_begun = True

    def _begin(self, parts: list[tuple[str, Any, Any, Any]]) -> None:
        """Creates the file, as a whole or not at all."""
        place = f"{self.path}.{os.getpid()}.new"
        try:
            with self._h5py.File(place, "w", libver=_FORMATS, locking=False) as file:
                fit = [part for part in parts if self._prepare(file, *part)]
            make_room(place, _measure(fit))
            with self._h5py.File(place, "r+", libver=_FORMATS, locking=False) as file:
                _write(file, fit)
            os.rename(place, self.path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(place)

    def _append(self, parts: list[tuple[str, Any, Any, Any]]) -> None:
        if not self._is_begun and not self._existing_ok:
            raise FileExistsError(f"{self.path}: another process has created the file in the meantime")
        self._wait_for_others()
        with self._h5py.File(self.path, "r", libver=_FORMATS, locking=False) as file:
            is_ready = all(self._is_ready(file, *part) for part in parts)
        if not is_ready:
            # From here to the end of the block a kill leaves no mark: everything is written when
            # the file is closed.
            with self._h5py.File(self.path, "r+", libver=_FORMATS, locking=False) as file:
                clear_mark(self.path)
                parts = [part for part in parts if self._prepare(file, *part)]
        make_room(self.path, _measure(parts))
        with self._open_for_rows() as file:
            _write(file, parts)

    def _wait_for_others(self) -> None:
        """Waits while the file has a writer's mark: another process is writing, or was killed while
        it wrote."""
        end = time.monotonic() + _PATIENCE
        while has_mark(self.path):
            if time.monotonic() > end:
                logger.warning("%s: the process that wrote it last was killed while writing", self.path)
                clear_mark(self.path)
            time.sleep(0.01)

    def _open_for_rows(self) -> Any:
        """Opens the file in SWMR mode from the start. Files of the older format do not have that
        mode."""
        h5f, h5p = self._h5py.h5f, self._h5py.h5p
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_LATEST)
        access.set_fclose_degree(h5f.CLOSE_STRONG)
        with contextlib.suppress(AttributeError):  # h5py before 3.9
            access.set_file_locking(False, True)
        try:
            flags = h5f.ACC_RDWR | h5f.ACC_SWMR_WRITE
            return self._h5py.File(h5f.open(os.fsencode(self.path), flags, access))
        except OSError:
            return self._h5py.File(self.path, "r+", libver=_FORMATS, locking=False)

    def _is_ready(self, file: Any, name: str, *arrays: Any) -> bool:
        """Whether the existing datasets can hold the rows."""
        for (end, role), rows in zip(_ENDS.items(), arrays):
            found = file.get(escape(name) + end)
            if found is None or _role(found) != role or _needs_more(found, rows) is not False:
                return False
        return True

    def _prepare(self, file: Any, name: str, *arrays: Any) -> bool:
        """Creates the datasets for these rows, or creates them again with more axes; before SWMR
        mode. Returns False if the values cannot be saved."""
        key = escape(name)
        for (end, role), rows in zip(_ENDS.items(), arrays):
            found = file.get(key + end)
            if found is None:
                fill = NO_RANK if role == "ranks" else None
                self._make(file, key + end, rows.shape, rows.dtype, fill, role)
            elif _role(found) != role or found.maxshape[0] is not None:
                _warn_once(
                    f"{self.path}: {key + end} was not written by this class for {role}; "
                    f"{name} was not saved"
                )
                return False
            elif not self._widen(file, key + end, found, rows, role):
                _warn_once(f"{self.path}: {key}: a dataset cannot hold both strings and numbers")
                return False
        return True

    def _make(
        self, file: Any, key: str, shape: tuple[int, ...], dtype: Any, fill: Any, role: str
    ) -> Any:
        is_text = dtype.kind in "UO"
        dataset = file.create_dataset(
            key,
            shape=(0, *shape[1:]),
            maxshape=(None,) * len(shape),
            chunks=_choose_chunks(shape, 16 if is_text else dtype.itemsize),
            dtype=self._h5py.string_dtype() if is_text else dtype,
            fillvalue=fill,
            **{key: value for key, value in self._filters.items() if value},
        )
        dataset.attrs[_ROLE] = role
        return dataset

    def _widen(self, file: Any, key: str, old: Any, rows: Any, role: str) -> bool:
        """Replaces a dataset by one with more axes, or of a wider dtype, if the rows need it.
        Returns False if it cannot hold them."""
        needs_more = _needs_more(old, rows)
        if not needs_more:
            return needs_more is False
        dtype = find_widest([old.dtype, rows.dtype]) if rows.dtype.kind != "U" else old.dtype
        extra = max(rows.ndim - old.ndim, 0)
        shape = (old.shape[0], *(1,) * extra, *old.shape[1:])
        del file[key]
        new = self._make(file, key, shape, dtype, NO_RANK if role == "ranks" else None, role)
        new.resize(shape)
        for begin in range(0, old.shape[0], old.chunks[0]):
            piece = old[begin : begin + old.chunks[0]]
            new[begin : begin + len(piece)] = piece.reshape(piece.shape[0], *shape[1:])
        return True


def _needs_more(dataset: Any, rows: Any) -> bool | None:
    """Whether the rows need more axes or a wider dtype than the dataset has; None if it cannot hold
    them."""
    is_text = rows.dtype.kind == "U"
    if is_text != (dataset.dtype.kind == "O"):
        return None
    is_wider = not is_text and find_widest([dataset.dtype, rows.dtype]) != dataset.dtype
    return bool(rows.ndim > dataset.ndim or is_wider)


def _write(file: Any, parts: list[tuple[str, Any, Any, Any]]) -> None:
    for name, *arrays in parts:
        datasets = [file[escape(name) + end] for end in _ENDS]
        at = datasets[0].shape[0]
        # Values last: a row counts when its value is written, and its iteration and rank are there
        # by then.
        for dataset, rows in reversed(list(zip(datasets, arrays))):
            _append_rows(dataset, rows, at)
            dataset.flush()  # HDF5 orders only the writes within a dataset


def _measure(parts: list[tuple[str, Any, Any, Any]]) -> int:
    """The most bytes that the rows occupy in the file, without HDF5's own data."""
    size = _SPARE
    for _, *arrays in parts:
        for rows in arrays:
            item = _TEXT_MOST if rows.dtype.kind == "U" else rows.dtype.itemsize
            chunks = _choose_chunks(rows.shape, item)
            count = _product([-(-n // c) + 1 for n, c in zip(rows.shape, chunks)])
            size += min(
                count * _product(list(chunks)) * item, 2 * rows.size * item + 2 * _CHUNK_MOST
            )
    return size


def _role(item: Any) -> str:
    return str(getattr(item, "attrs", {}).get(_ROLE, ""))


def _choose_chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The chunk for rows of one gathering: small rows share a chunk with later gatherings, large
    ones are divided."""
    inner = [max(size, 1) for size in shape[1:]]
    axis = 0
    while axis < len(inner) and _product(inner) * itemsize > _CHUNK_MOST:
        others = _product(inner) // inner[axis]
        inner[axis] = max(1, min(inner[axis], _CHUNK_MOST // (others * itemsize)))
        axis += 1
    row = _product(inner) * itemsize
    count = min(max(shape[0], _CHUNK_BYTES // row, 1), max(_CHUNK_MOST // row, 1))
    return (count, *inner)


def _product(sizes: list[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def _append_rows(dataset: Any, rows: Any, at: int) -> None:
    """Appends rows in one write. The dataset grows to the largest sizes, and HDF5 fills with
    zeros."""
    rows = rows.reshape(rows.shape[0], *(1,) * (dataset.ndim - rows.ndim), *rows.shape[1:])
    sizes = [max(a, b) for a, b in zip(dataset.shape[1:], rows.shape[1:])]
    if dataset.shape != (at + rows.shape[0], *sizes):
        dataset.resize((at + rows.shape[0], *sizes))
    place = (slice(at, at + rows.shape[0]), *(slice(size) for size in rows.shape[1:]))
    dataset[place] = rows.astype(object) if rows.dtype.kind == "U" else rows


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        logger.warning("%s", text)
