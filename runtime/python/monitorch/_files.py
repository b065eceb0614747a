"""Files that are written whole or appended to in one write, and reserved disk space."""

import errno
import os

_CANNOT_RESERVE = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)


def write(path: str, data: bytes) -> None:
    """Writes a file beside `path` and renames it: `path` is the old file or the complete new
    one."""
    folder, name = os.path.split(path)
    if not name:
        raise IsADirectoryError(21, "A folder, and no file's name", path)
    try:
        os.makedirs(folder or ".", exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(20, "There is a file where a folder has to be", folder) from None
    beside = os.path.join(folder, f".monitorch.{os.getpid()}")
    try:
        _write_new(beside, data)
        os.replace(beside, path)
    except OSError as error:
        remove(beside)
        # The caller knows `path` and not the temporary name beside it.
        raise type(error)(error.errno, error.strerror, path) from None
    except BaseException:
        remove(beside)
        raise


def _write_new(path: str, data: bytes) -> None:
    remove(path)  # left by a killed process that had the same process id
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


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


def make_room(path: str, size: int) -> None:
    """Reserves disk space. Raises OSError if the disk has less, since HDF5 does not survive a full
    disk.

    Space that is not needed is released when the file is closed.
    """
    with open(path, "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        try:
            os.posix_fallocate(file.fileno(), end, size)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _CANNOT_RESERVE:
                file.truncate(end)
                raise
