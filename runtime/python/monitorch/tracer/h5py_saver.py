"""H5PYSaverCallback: traced values in an HDF5 file."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from monitorch.tracer._hdf5 import ResultFile, escape
from monitorch.tracer._rows import Kinds, make_rows

logger = logging.getLogger("monitorch.tracer")


class H5PYSaverCallback:
    """A post_gather callback that moves what was gathered into a file.

    Each value is a row of the dataset of its name; `{name}_iterations` and `{name}_ranks` tell whose
    it is, of which iteration. Rows of other shapes are padded with zeros. The file is closed
    between gatherings, so it can be read at any time; with `h5py.File(…, "r", swmr=True)` a reader
    may keep it open while rows are added.

    Floating-point numbers are stored as `float_dtype`, integers as `int_dtype`, bools and texts as
    such. `compression`, `compression_opts` and `shuffle` are h5py's. An existing file is appended
    to, or with `existing_ok=False` a ValueError.
    """

    def __init__(
        self,
        dataset_file: str | os.PathLike[str],
        iteration_dtype: Any = "int64",
        float_dtype: Any = "float32",
        int_dtype: Any = "int32",
        compression: Any = None,
        compression_opts: Any = None,
        shuffle: bool = False,
        existing_ok: bool = True,
    ) -> None:
        self.dataset_file = os.path.abspath(os.fspath(dataset_file))
        if not existing_ok and os.path.lexists(self.dataset_file):
            raise ValueError(f"{self.dataset_file}: there is such a file, and existing_ok is False")
        self._kinds = Kinds(iteration_dtype, float_dtype, int_dtype)
        filters = {
            "compression": compression,
            "compression_opts": compression_opts,
            "shuffle": shuffle,
        }
        self._file = ResultFile(self.dataset_file, filters, existing_ok)
        self._waiting: list[tuple[str, Any, Any, Any]] = []
        self._is_gathering = False
        self.datasets: Mapping[str, Any] = _Datasets(self._file)

    def __call__(
        self, name: str, values: list[Any], iterations: list[int], ranks: list[int]
    ) -> None:
        """Moves the values into the file; what cannot be stored stays in the lists."""
        if not values or not (self._is_gathering or _is_first_rank()):
            return
        rows = make_rows(name, values, iterations, ranks, self._kinds)
        if rows is None:
            return
        self._waiting.append((name, *rows))
        values.clear()
        iterations.clear()
        ranks.clear()
        if not self._is_gathering:
            self._write()

    def begin_gathering(self) -> None:
        """A tracer is about to call for each name of a gathering: all are written at its end."""
        self._is_gathering = True

    def end_gathering(self) -> None:
        """It has called for all of them: they are written."""
        self._is_gathering = False
        self._write()

    def close(self) -> None:
        """Writes what could not be written before; the file is complete then."""
        if self._waiting:
            self._file.append(self._waiting)
            self._waiting = []
        self._file.close()

    def _write(self) -> None:
        """A full disk is no reason to end the training: it is tried again with the next one."""
        if not self._waiting:
            return
        try:
            self._file.append(self._waiting)
            self._waiting = []
        except OSError as error:
            logger.error(
                "%s: cannot be written, what was gathered is kept until the next gathering: %s",
                self.dataset_file,
                error,
            )

    def __enter__(self) -> H5PYSaverCallback:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._file.close()


class _Datasets(Mapping[str, Any]):
    """The file's datasets by the names of the values; each is open until the next gathering."""

    def __init__(self, file: ResultFile) -> None:
        self._file = file

    def __getitem__(self, name: str) -> Any:
        found = self._file.read().get(escape(name)) if self._file.is_there() else None
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.names() if self._file.is_there() else ())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"<datasets of {self._file.path}: {', '.join(self)}>"


def _is_first_rank() -> bool:
    """Where the tracer calls, it does so on one rank alone."""
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return True
    return bool(dist.get_rank() == 0)
