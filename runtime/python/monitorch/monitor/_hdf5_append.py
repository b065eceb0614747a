"""An HDF5 file that steps are appended to while a model trains.

A crash while HDF5 appends can leave an unreadable file. So each step is first written to a journal,
as a line of JSON in one write. The file is written again as a whole when this costs little compared
with the time since the last time.
"""

from __future__ import annotations

import atexit
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

from monitorch._files import append
from monitorch._hdf5 import import_h5py
from monitorch.monitor import _hdf5

if TYPE_CHECKING:
    from collections.abc import Mapping

#: At most one part in so many of the time goes into writing the file anew.
_PATIENCE = 20


class Appender:
    def __init__(
        self, path: str | os.PathLike[str], content: Mapping[str, Mapping[int, Any]]
    ) -> None:
        """`content` is put into the file, with what it has already."""
        import_h5py("HDF5 files need the package")
        self._path = os.path.abspath(os.fspath(path))
        self._process = os.getpid()
        self._waiting = b""
        self._was_warned = False
        self._cost = 0.0
        self._last = -float("inf")
        if content or _hdf5.has_any(self._path):
            self._fold(content)
        atexit.register(self.close)

    def add(self, step: int, metrics: Mapping[str, Any]) -> None:
        if os.getpid() != self._process:
            return  # a child's steps are not the parent's
        self._waiting += _hdf5.journal_line(step, metrics)
        try:
            self._write()
            if time.monotonic() - self._last >= _PATIENCE * self._cost:
                self._fold({})
        except OSError as error:
            self._warn(error)

    def close(self) -> None:
        """Puts all steps into the file."""
        atexit.unregister(self.close)
        if os.getpid() != self._process:
            return
        try:
            if self._waiting:
                self._write()
            if _hdf5.has_any(self._path):
                self._fold({})
        except OSError as error:
            self._warn(error)

    def _write(self) -> None:
        append(self._path + _hdf5.JOURNAL, self._waiting)
        self._waiting = b""

    def _fold(self, content: Mapping[str, Mapping[int, Any]]) -> None:
        start = time.monotonic()
        merged: dict[str, dict[Any, Any]] = {}
        if _hdf5.has_any(self._path):
            merged.update(_hdf5.load(self._path))
        for key, entry in content.items():
            merged.setdefault(key, {}).update(entry)
        _hdf5.save(self._path, merged)
        self._last = time.monotonic()
        self._cost = self._last - start

    def _warn(self, error: OSError) -> None:
        if not self._was_warned:
            self._was_warned = True
            reason = error.strerror or error
            text = f"{self._path}: steps were not appended, and are kept for later: {reason}"
            warnings.warn(f"monitorch: {text}", RuntimeWarning, stacklevel=5)
