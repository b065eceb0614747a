"""The files that a saver may replace.

It may replace its own files, and with one warning those of earlier runs. For a file of another
saver of this process, or one that another process has written since this one started, it uses the
next free number instead. `overwrite` decides otherwise.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

_Write = Callable[[str, int, bool], bool]

logger = logging.getLogger("monitorch.spy.saver")

# File systems use the time of a clock that may be a tick late.
_STARTED = time.time() - 0.01
_serials = itertools.count()
lock = threading.Lock()  # protects the following two
owners: dict[str, Owner] = {}  # by paths, and by names in files
unfinished: set[str] = set()  # files that do not exist before they are complete


class Owner(NamedTuple):
    process: int
    saver: int
    file: str

    def is_gone(self) -> bool:
        """Whether the file was removed."""
        return self.file not in unfinished and not os.path.lexists(self.file)


class Ownership:
    """The files that one saver may replace. `overwrite` is True, False, or None for the rules
    above."""

    def __init__(self, overwrite: bool | None) -> None:
        self.overwrite = overwrite
        self.serial = next(_serials)
        #: Whether files that it did not write may exist: each path is then checked before a write.
        self.expects_files = overwrite is False
        self._warned: set[str] = set()

    def write(
        self,
        find_path: Callable[[int], str],
        number: int,
        advance: Callable[[int], int],
        write: _Write,
        *,
        is_whole: bool = True,
    ) -> int:
        """Calls `write(path, number, may_replace)` with the first path that this saver may use.
        Returns its number.

        `write` returns False if the file exists and was not replaced. `advance(number)` returns the
        next number to try. Unless `is_whole`, `finish` must be called when the file is complete.
        """
        path = find_path(number)
        is_free = self._write_at(path, number, write, may_be_own=True)
        while not is_free:
            self._pass(path)
            number = advance(number)
            path = find_path(number)
            is_free = self._write_at(path, number, write, may_be_own=False)
        if is_whole:
            finish(path)
        return number

    def claim(
        self,
        find_name: Callable[[int], str],
        number: int,
        advance: Callable[[int], int],
        file: str,
    ) -> int:
        """Does the same for names within a file, without writing."""
        may_be_own = True
        while self._acquire(find_name(number), file, may_be_own) == "others":
            self._pass(find_name(number))
            number = advance(number)
            may_be_own = False
        return number

    def _acquire(self, name: str, file: str, may_be_own: bool) -> Literal["own", "new", "others"]:
        """Reserves a name: of the file itself, which is then begun, or of something in it."""
        me = Owner(os.getpid(), self.serial, file)
        with lock:
            owner = owners.get(name)
            is_own = owner is not None and owner[:2] == me[:2]
            if owner is not None and not (is_own and may_be_own):
                # Another saver's names in a file end when this saver replaces the file.
                is_replaced = name != file == owner.file and not is_own
                if not (self.overwrite or is_replaced or owner.is_gone()):
                    return "others"
            owners[name] = me
            if name == file:
                unfinished.add(file)
        return "own" if is_own and may_be_own else "new"

    def _write_at(self, path: str, number: int, write: _Write, *, may_be_own: bool) -> bool:
        status = self._acquire(path, path, may_be_own)
        if status == "others":
            return False
        is_written = False
        try:
            if status == "own" or self.overwrite:
                is_written = write(path, number, True)
            else:
                is_written = self._write_first(path, number, write)
        finally:
            if not is_written:
                self._give_back(path, status)
        return is_written

    def _give_back(self, path: str, status: str) -> None:
        """Releases a path to which nothing was written."""
        finish(path)
        if status == "new":
            with lock:
                owners.pop(path, None)

    def _write_first(self, path: str, number: int, write: _Write) -> bool:
        """Writes a file that no saver of this process has written yet."""
        if not os.path.lexists(path) and write(path, number, False):
            return True
        if self.overwrite is False:
            raise _exists(path)
        if _is_of_this_run(path):
            return False
        self.expects_files = True
        self._warn(
            "earlier",
            "%s is left from an earlier run; replaced, as further such files will be. To replace "
            "without this warning, pass overwrite=True; to raise an error, overwrite=False",
            path,
        )
        return write(path, number, True)

    def _pass(self, path: str) -> None:
        """Warns that the path belongs to another saver, before the next path is tried."""
        if self.overwrite is False:
            raise _exists(path)
        self._warn(
            "taken",
            "%s was saved by another saver or process of this run; the new tensor is saved "
            "under the next free number. To replace the file, pass overwrite=True",
            path,
        )

    def _warn(self, kind: str, text: str, path: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning(text, path)


def finish(path: str) -> None:
    """Marks the file as complete, or as not written."""
    with lock:
        unfinished.discard(path)


def _is_of_this_run(path: str) -> bool:
    """Whether the file was written since this process started, which another process or saver
    did."""
    try:
        return os.stat(path).st_mtime >= _STARTED
    except FileNotFoundError:
        return False  # it was removed in between


def _exists(path: str) -> FileExistsError:
    text = "the file exists already; to replace it, pass overwrite=True"
    return FileExistsError(errno.EEXIST, text, path)
