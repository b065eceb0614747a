"""The path of a trace, and the check of an existing file there."""

import posix
import sys

_EACCES = 13
_EEXIST = 17
_EINVAL = 22
_FORMAT_MASK = 0o170000
_FORMAT_REGULAR = 0o100000
MAGIC = b"mtrace\r\n"  # the first bytes of every trace


def decode(path: object) -> str:
    text = posix.fspath(path)  # type: ignore[call-overload]
    if isinstance(text, bytes):
        text = text.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
    if not text or "\0" in text:
        raise ValueError(f"path must name a file, not {text!r}")
    return str(text)


def add_word(path: str, word: str) -> str:
    """`run.mtrace` and `rank3` give `run.rank3.mtrace`."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        return f"{path}.{word}"
    return f"{folder}{slash}{stem}.{word}{dot}{ending}"


def find_world_size() -> int:
    """The number of ranks, if this process is one of several; otherwise 0."""
    rank = posix.environ.get(b"RANK", b"")
    world = posix.environ.get(b"WORLD_SIZE", b"")
    return int(world) if rank.isdigit() and world.isdigit() and int(world) > 1 else 0


def add_rank(path: str) -> str:
    if find_world_size():
        return add_word(path, f"rank{int(posix.environ[b'RANK'])}")
    return path


def make_absolute(path: str) -> str:
    # The program may change its folder, or fork a child in another one.
    return path if path.startswith("/") else f"{posix.getcwd()}/{path}"


def check_writable(path: str) -> None:
    """Raises the errors of opening the file, but does not change it."""
    try:
        file = posix.open(path, posix.O_RDWR | posix.O_CLOEXEC | posix.O_NONBLOCK)
        try:
            is_regular = posix.fstat(file).st_mode & _FORMAT_MASK == _FORMAT_REGULAR
            start = posix.pread(file, len(MAGIC), 0) if is_regular else b""
        finally:
            posix.close(file)
        if not is_regular:
            raise OSError(_EINVAL, "Not a regular file", path)
        if start and start != MAGIC:
            # Usually an error of the user: MONITORCH=train.py
            raise FileExistsError(_EEXIST, "There is another file, which is no trace: not replaced", path)
    except FileNotFoundError:
        folder = path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")
        if not posix.access(folder, posix.F_OK):
            raise
        if not posix.access(folder, posix.W_OK | posix.X_OK):
            raise PermissionError(_EACCES, posix.strerror(_EACCES), path) from None
