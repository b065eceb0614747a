"""Wheels and sdists as files: the same bytes for the same contents."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import pathlib
import tarfile
import zipfile

# The time of every file in them: with a real one each build would differ.
YEAR = (1980, 1, 1, 0, 0, 0)
SECONDS = 315532800


def _mode(is_program: bool) -> int:
    return 0o755 if is_program else 0o644


class Wheel:
    def __init__(self, path: pathlib.Path, info: str) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._info = info  # the folder of the metadata
        self._record: list[str] = []

    def add(self, name: str, data: bytes | str, is_program: bool = False) -> None:
        data = data.encode() if isinstance(data, str) else data
        self._write(name, data, is_program)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def _write(self, name: str, data: bytes, is_program: bool) -> None:
        entry = zipfile.ZipInfo(name, YEAR)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | _mode(is_program)) << 16
        self._zip.writestr(entry, data)

    def finish(self) -> None:
        name = f"{self._info}/RECORD"
        self._write(name, "".join([*self._record, f"{name},,\n"]).encode(), False)
        self._zip.close()


def write_sdist(
    path: pathlib.Path, folder: str, files: dict[str, bytes], programs: set[str]
) -> None:
    """`files` by their names within `folder`."""
    with open(path, "wb") as out, gzip.GzipFile("", "wb", mtime=SECONDS, fileobj=out) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name, data in sorted(files.items()):
                entry = tarfile.TarInfo(f"{folder}/{name}")
                entry.size = len(data)
                entry.mtime = SECONDS
                entry.mode = _mode(name in programs)
                tar.addfile(entry, io.BytesIO(data))
