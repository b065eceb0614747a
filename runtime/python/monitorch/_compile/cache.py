"""The cache of instrumented code, so that a large project is instrumented only once.

It corresponds to Python's __pycache__ for bytecode, but is a folder of the user's own:
`monitorch/code` in $XDG_CACHE_HOME or ~/.cache. It is not used if Python is not to write bytecode
(`-B`). The key of an entry is a hash of all that the code depends on, so that no entry is ever out
of date. Entries that were not used for a month are removed.
"""

import importlib.util
import marshal
import os
import sys
import time

from monitorch import _instrument, _recorder
from monitorch._files import remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    Notes = list[tuple[str, int, int, str]]

_MAGIC = b"mtcode1\n"
_HASH_SIZE = 32  # in hexadecimal digits
_DAY = 86400.0
_KEPT = 30 * _DAY
_STAMP = "cleaned"


def find_folder() -> "str | None":
    """The folder of the cache; None if there is to be no cache, or if others could write code into
    it."""
    if sys.dont_write_bytecode:
        return None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(home):
        return None
    folder = os.path.join(home, "monitorch", "code")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
    except OSError:
        return None
    is_ours = found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return folder if is_ours else None


class Cache:
    """The cache. None of its methods raises: without it a program only starts later."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._is_cleaned = False
        # The key has the contents of the compiler: packages give all files one time, and round sizes.
        with open(_instrument.__file__, "rb") as file:
            compiler = _recorder.source_hash(file.read())
        self._start = repr(
            (
                importlib.util.MAGIC_NUMBER,
                sys.implementation.cache_tag,
                sys.flags.optimize,
                compiler,
            )
        )

    def find_key(self, source: bytes, path: str, options: "dict[str, Any]") -> str:
        """The key of an entry. `options` are those of compile_source."""
        text = f"{self._start}{path!r}{sorted(options.items())!r}\0"
        return _recorder.source_hash(text.encode("utf-8", "surrogatepass") + source)

    def get(self, key: str) -> "tuple[CodeType, Notes] | None":
        path = os.path.join(self._folder, key)
        try:
            with open(path, "rb") as file:
                data = file.read()
                if time.time() - os.fstat(file.fileno()).st_mtime > _DAY:
                    os.utime(path)
            start = len(_MAGIC) + _HASH_SIZE
            payload = data[start:]
            if data[:start] != _MAGIC + _recorder.source_hash(payload).encode():
                return None
            return marshal.loads(payload)  # type: ignore[no-any-return]
        except (OSError, ValueError, EOFError, TypeError):
            return None

    def put(self, key: str, code: "CodeType", notes: "Notes") -> None:
        path = os.path.join(self._folder, key)
        unfinished = f"{path}.{os.getpid()}"
        try:
            payload = marshal.dumps((code, [tuple(note) for note in notes]))
            with open(unfinished, "xb") as file:
                file.write(_MAGIC + _recorder.source_hash(payload).encode() + payload)
            os.replace(unfinished, path)
        except (OSError, ValueError):
            remove(unfinished)
        if not self._is_cleaned:
            self._is_cleaned = True
            self._clean()

    def _clean(self) -> None:
        """Removes unused entries, once a day."""
        stamp = os.path.join(self._folder, _STAMP)
        now = time.time()
        try:
            if now - os.stat(stamp).st_mtime < _DAY:
                return
        except OSError:
            pass  # never cleaned before
        try:
            with open(stamp, "wb"):
                pass
            with os.scandir(self._folder) as entries:
                old = [e.path for e in entries if now - e.stat().st_mtime > _KEPT]
        except OSError:
            return
        for path in old:
            remove(path)
