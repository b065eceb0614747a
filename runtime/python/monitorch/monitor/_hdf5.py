"""Metrics as HDF5 files, by h5py.

One group for each key, with the datasets `keys` and `values`; a `/` in a key nests groups. A name
that HDF5 does not allow, or that equals one of the datasets' names, is written with a `%` before
it: the key `loss/keys` has the name `loss/%keys`.

Steps are appended while a model trains. A crash while HDF5 appends can leave an unreadable file, so
each step is first written to a journal, as a line of JSON in one write. The whole file is written
again when this needs little time compared with the time since the last such write.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any

from monitorch._files import append, write
from monitorch._hdf5 import import_h5py, read_key, write_key

if TYPE_CHECKING:
    Path = str | os.PathLike[str]

#: An attribute of the file. Files of other programs lack it, and their names are not escaped.
_MARK = "monitorch"
#: The suffix of the journal's name. Finished steps are appended to the journal first.
JOURNAL = ".journal"
#: The inverse of the largest share of the time that is spent on writing the whole file.
_PATIENCE = 20


# ---- writing ----


def save(path: Path, content: Mapping[Any, Mapping[Any, Any]]) -> list[Any]:
    """Writes {key: {step: value}} or {step: {key: value}}. Returns the keys with values that are no
    numbers, which are left out."""
    h5py = import_h5py("HDF5 files need the package")
    left_out = []
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        file.attrs[_MARK] = 1
        for outer, inner in content.items():
            kept = {key: value for key, value in inner.items() if isinstance(value, Real)}
            if len(kept) < len(inner):
                left_out.append(outer)
            if kept or not inner:
                _save_entry(h5py, file, str(outer), kept)
    write(os.fspath(path), image.getvalue())
    try:
        os.unlink(os.fspath(path) + JOURNAL)
    except OSError:
        pass
    return left_out


def _save_entry(h5py: Any, file: Any, name: str, entry: Mapping[Any, Any]) -> None:
    numpy = import_module("numpy")
    group = file.require_group(write_key(name))
    keys: Any = list(entry)
    if any(isinstance(key, str) for key in keys):
        texts = [write_key(str(key)) for key in keys]
        group.create_dataset("keys", data=texts, dtype=h5py.string_dtype())
    else:
        group.create_dataset("keys", data=numpy.array(keys, dtype=numpy.float64))
    group.create_dataset("values", data=numpy.array(list(entry.values()), dtype=numpy.float64))


# ---- reading ----


def _entries(h5py: Any, group: Any, path: bytes = b"") -> Iterator[tuple[bytes, Any]]:
    """The groups that hold datasets `keys` and `values`, at any depth."""
    names = [group.id.get_objname_by_idx(place) for place in range(group.id.get_num_objs())]
    if _is_entry(h5py, group):
        yield path, group
    for name in names:
        if group.get(name, getclass=True) is h5py.Group:
            yield from _entries(h5py, group[name], path + b"/" + name if path else name)


def _is_entry(h5py: Any, group: Any) -> bool:
    return all(group.get(name, getclass=True) is h5py.Dataset for name in ("keys", "values"))


def read_keys(path: Path) -> list[str]:
    return list({**_names(path), **_journal(path)})


def _names(path: Path) -> dict[str, bytes]:
    """The path in the file of each key."""
    h5py = import_h5py("HDF5 files need the package")
    if _has_journal_alone(path):
        return {}
    with h5py.File(os.fspath(path), "r") as file:
        is_ours = _MARK in file.attrs
        return {read_key(name, is_ours): name for name, _ in _entries(h5py, file)}


def read_entry(path: Path, key: str) -> Any:
    numpy = import_module("numpy")
    found = _names(path).get(key)
    later = _journal(path).get(key, {})
    if found is None and not later:
        return None
    entry: dict[Any, float] = {}
    if found is not None:
        with import_h5py("HDF5 files need the package").File(os.fspath(path), "r") as file:
            entry = _read_group(file[found])
    entry.update(later)
    steps: Any = list(entry)
    if not any(isinstance(step, str) for step in steps):
        steps = numpy.array(steps, dtype=numpy.float64)
    return steps, numpy.array(list(entry.values()), dtype=numpy.float64)


def _read_group(group: Any) -> dict[Any, float]:
    keys, values = group["keys"][()], group["values"][()]
    if values.ndim == 0:  # a single value, written by another program
        keys, values = keys.reshape(1), values.reshape(1)
    return dict(zip(map(_read_step, keys.tolist()), values.tolist()))


def _read_step(step: Any) -> Any:
    """Converts a step. Steps are whole numbers, stored as floats; keys are texts, as those of
    groups."""
    if isinstance(step, bytes):
        return read_key(step, True)
    return int(step) if isinstance(step, float) and step.is_integer() else step


def load(path: Path) -> dict[str, dict[Any, float]]:
    h5py = import_h5py("HDF5 files need the package")
    loaded: dict[str, dict[Any, float]] = {}
    if not _has_journal_alone(path):
        with h5py.File(os.fspath(path), "r") as file:
            is_ours = _MARK in file.attrs
            for name, group in _entries(h5py, file):
                loaded[read_key(name, is_ours)] = _read_group(group)
    if any(isinstance(key, str) for entry in loaded.values() for key in entry):
        loaded = _condense(loaded)
    for key, later in _journal(path).items():
        loaded.setdefault(key, {}).update(later)
    return loaded


def _condense(loaded: Mapping[str, Mapping[Any, float]]) -> dict[str, dict[Any, float]]:
    """{key: {step: value}} from {step: {key: value}}."""
    condensed: dict[str, dict[Any, float]] = {}
    for step, metrics in loaded.items():
        for key, value in metrics.items():
            condensed.setdefault(key, {})[_read_step(float(step))] = value
    return condensed


# ---- the journal ----


def journal_line(step: int, metrics: Mapping[str, Any]) -> bytes:
    """The line of a step in the journal."""
    kept = {key: float(value) for key, value in metrics.items() if isinstance(value, Real)}
    return json.dumps([step, kept]).encode() + b"\n"


def has_any(path: Path) -> bool:
    """Whether the file or its journal exists."""
    return os.path.exists(path) or _has_journal_alone(path)


def _has_journal_alone(path: Path) -> bool:
    return not os.path.exists(path) and os.path.exists(os.fspath(path) + JOURNAL)


def _journal(path: Path) -> dict[str, dict[Any, float]]:
    """The steps that ended after the last write of the file. A last line that is cut off is
    skipped."""
    entries: dict[str, dict[Any, float]] = {}
    try:
        with open(os.fspath(path) + JOURNAL, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return entries
    for line in lines:
        try:
            step, metrics = json.loads(line)
            numbers = {key: float(value) for key, value in metrics.items()}
        except (ValueError, TypeError, AttributeError):
            continue
        for key, value in numbers.items():
            entries.setdefault(key, {})[step] = value
    return entries


# ---- appending ----


class Appender:
    def __init__(
        self, path: str | os.PathLike[str], content: Mapping[str, Mapping[int, Any]]
    ) -> None:
        """Writes `content` into the file, in addition to its present steps."""
        import_h5py("HDF5 files need the package")
        self._path = os.path.abspath(os.fspath(path))
        self._process = os.getpid()
        self._waiting = b""
        self._was_warned = False
        self._cost = 0.0
        self._last = -float("inf")
        if content or has_any(self._path):
            self._fold(content)
        atexit.register(self.close)

    def add(self, step: int, metrics: Mapping[str, Any]) -> None:
        if os.getpid() != self._process:
            return  # a forked child's steps do not belong to the parent
        self._waiting += journal_line(step, metrics)
        try:
            self._write()
            if time.monotonic() - self._last >= _PATIENCE * self._cost:
                self._fold({})
        except OSError as error:
            self._warn(error)

    def close(self) -> None:
        """Writes all steps into the file."""
        atexit.unregister(self.close)
        if os.getpid() != self._process:
            return
        try:
            if self._waiting:
                self._write()
            if has_any(self._path):
                self._fold({})
        except OSError as error:
            self._warn(error)

    def _write(self) -> None:
        append(self._path + JOURNAL, self._waiting)
        self._waiting = b""

    def _fold(self, content: Mapping[str, Mapping[int, Any]]) -> None:
        start = time.monotonic()
        merged: dict[str, dict[Any, Any]] = {}
        if has_any(self._path):
            merged.update(load(self._path))
        for key, entry in content.items():
            merged.setdefault(key, {}).update(entry)
        save(self._path, merged)
        self._last = time.monotonic()
        self._cost = self._last - start

    def _warn(self, error: OSError) -> None:
        if not self._was_warned:
            self._was_warned = True
            reason = error.strerror or error
            text = f"{self._path}: steps were not appended, and are kept for later: {reason}"
            warnings.warn(f"monitorch: {text}", RuntimeWarning, stacklevel=5)
