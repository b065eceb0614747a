"""Files that something is appended to at the end of each step."""

from __future__ import annotations

import errno
import os


def append(path: str, data: bytes, first: bytes = b"") -> None:
    """Appends all of `data` in one write, or nothing if the disk is full.

    `first` is the beginning of a new file.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(file).st_size
        if size == 0:
            data = first + data
        try:
            written = os.write(file, data)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, path) from None
        if written < len(data):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(file)
