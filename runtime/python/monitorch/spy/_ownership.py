"""Which files a saver may replace.

Its own ones it may. Those of the other savers of this process it may not, nor those that another
process has written since this one started: it takes the next number that is free. Those that
an earlier run has left are replaced, with one warning; `overwrite` decides otherwise.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
import time
from collections.abc import Callable

_Write = Callable[[str, int, bool], bool]

logger = logging.getLogger("monitorch.spy.saver")

# File systems take their times from a clock that may be a tick behind.
_STARTED = time.time() - 0.01
_serials = itertools.count()
_owners: dict[str, tuple[int, int]] = {}  # path -> process and serial number of its saver


class Ownership:
    """What one saver may replace; `overwrite` is True, False, or None for the rules above."""

    def __init__(self, overwrite: bool | None) -> None:
        self.overwrite = overwrite
        self._serial = next(_serials)
        self._warned: set[str] = set()

    def write(
        self,
        find_path: Callable[[int], str],
        number: int,
        advance: Callable[[int], int],
        write: _Write,
    ) -> int:
        """Calls `write(path, number, may_replace)` with the first path that may be had, and
        returns its number; `write` returns False where a file is there and was not replaced.
        `advance(number)` gives the next number to be tried."""
        is_free = self._write_at(find_path(number), number, write, may_be_own=True)
        while not is_free:
            self._warn_taken(find_path(number))
            number = advance(number)
            is_free = self._write_at(find_path(number), number, write, may_be_own=False)
        return number

    def claim(
        self, find_path: Callable[[int], str], number: int, advance: Callable[[int], int]
    ) -> int:
        """The same for names within files: nothing is written, and no file is looked at."""
        return self.write(find_path, number, advance, lambda path, number, may_replace: True)

    def _write_at(self, path: str, number: int, write: _Write, *, may_be_own: bool) -> bool:
        me = os.getpid(), self._serial
        if self.overwrite:
            _owners[path] = me
        owner = _owners.get(path)
        if owner == me and may_be_own:
            return write(path, number, True)
        if owner is not None or _owners.setdefault(path, me) != me:
            if self.overwrite is False:
                raise _exists(path)
            return False
        is_written = False
        try:
            is_written = self._write_first(path, number, write)
        finally:
            if not is_written:
                del _owners[path]
        return is_written

    def _write_first(self, path: str, number: int, write: _Write) -> bool:
        """As _write_at, where no saver of this process has written the file."""
        if write(path, number, False):
            return True
        if self.overwrite is False:
            raise _exists(path)
        if _is_of_this_run(path):
            return False
        self._warn(
            "earlier",
            "%s is of an earlier run: it is replaced, and so are others (overwrite=True: without "
            "this warning; overwrite=False: an error)",
            path,
        )
        return write(path, number, True)

    def _warn_taken(self, path: str) -> None:
        self._warn(
            "taken",
            "%s is of another saver or process of this run: what would replace it is saved under "
            "the next free number (overwrite=True replaces)",
            path,
        )

    def _warn(self, kind: str, text: str, path: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning(text, path)


def _is_of_this_run(path: str) -> bool:
    """Whether the file was written since this process started; another must have done it."""
    try:
        return os.stat(path).st_mtime >= _STARTED
    except FileNotFoundError:
        return False  # it has just been removed


def _exists(path: str) -> FileExistsError:
    text = "the file is there (overwrite=True replaces it)"
    return FileExistsError(errno.EEXIST, text, path)
