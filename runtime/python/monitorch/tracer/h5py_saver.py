"""H5PYSaverCallback: traced values in an HDF5 file."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from monitorch._hdf5 import escape
from monitorch.tracer._hdf5 import ResultFile
from monitorch.tracer._rows import Kinds, make_rows

logger = logging.getLogger("monitorch.tracer")


class H5PYSaverCallback:
    """A post_gather callback that moves values to an HDF5 file. Needs h5py.

    Each value becomes one row of the dataset of its name. The datasets ``{name}_iterations`` and
    ``{name}_ranks`` hold the iteration and the rank of each row. Rows of different shapes are
    padded with zeros. The file is closed between gatherings, so other programs can read it at any
    time.

    Args:
        dataset_file (str or PathLike): the file.
        iteration_dtype, float_dtype, int_dtype (dtype or str, optional): how iterations,
            floating-point numbers and integers are stored. Default: int64, float32, int32
        compression, compression_opts, shuffle (optional): as in h5py.
        existing_ok (bool, optional): if ``True``, appends to an existing file. Default: ``True``

    Attributes:
        datasets (Mapping[str, h5py.Dataset]): the datasets by name. Each is open until the next
            gathering.

    Raises:
        ValueError: if the file exists and `existing_ok` is ``False``.

    Example::

        >>> saver = H5PYSaverCallback("run.h5")
        >>> tracer = ModelTracer(model, ["forward"], post_gather_callbacks=[saver])
        >>> with tracer:
        ...     train(model)
        >>> saver.datasets["forward"].shape
        (120, 8, 10)
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
            raise ValueError(f"{self.dataset_file}: the file exists, and existing_ok is False")
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
        """Moves the values into the file. Values that cannot be stored stay in the lists."""
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
        """Starts collecting: a tracer calls this before the first name of a gathering."""
        self._is_gathering = True

    def end_gathering(self) -> None:
        """Writes what was collected: a tracer calls this after the last name of a gathering."""
        self._is_gathering = False
        self._write()

    def close(self) -> None:
        """Writes what could not be written before, and closes the file.

        Raises:
            OSError: if it still cannot be written.
        """
        if self._waiting:
            self._file.append(self._waiting)
            self._waiting = []
        self._file.close()

    def _write(self) -> None:
        """Writes; on a full disk it logs an error and tries again at the next gathering."""
        if not self._waiting:
            return
        try:
            self._file.append(self._waiting)
            self._waiting = []
        except OSError as error:
            logger.error(
                "%s: cannot be written; the values are kept until the next gathering: %s",
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
    """Whether this is rank 0, for calls that do not originate in a tracer."""
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return True
    return bool(dist.get_rank() == 0)
