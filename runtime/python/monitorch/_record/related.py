"""Traces of one run: those of child processes, and of ranks, as their headers identify them.

Imports only built-in modules, as recording does.
"""

import posix

from monitorch._record import trace_path as _trace_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER_SIZE = 104
_ANCESTOR_LIMIT = 100


class Header:
    """The identity of a trace's recording, and the recording that it belongs to."""

    __slots__ = ("start", "process", "root", "job")

    def __init__(self, data: bytes) -> None:
        def read(first: int, end: int) -> int:
            return int.from_bytes(data[first:end], "little")

        self.start = read(16, 24)
        self.process = read(36, 40)
        self.root = read(80, 88), read(96, 100)
        """(start, process) of the recording that made this one's process; zeros: none."""
        self.job = read(88, 96)
        """A number of what started all ranks; 0: unknown."""

    @property
    def identity(self) -> "tuple[int, int]":
        return self.start, self.process

    @property
    def is_child(self) -> bool:
        return self.root != (0, 0)


def read_header(path: str) -> "Header | None":
    """Reads a trace's header. Returns None if there is no trace."""
    try:
        file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return None
    try:
        data = posix.pread(file, _HEADER_SIZE, 0)
    except OSError:
        return None
    finally:
        posix.close(file)
    is_trace = len(data) == _HEADER_SIZE and data.startswith(_trace_path.MAGIC)
    return Header(data) if is_trace else None


def find_origin(owner: "Header | None") -> "tuple[int, int, int]":
    """The origin of a recording that begins here: (start, process) of the recording that it belongs
    to, and the number of its job.

    It belongs to `owner`'s recording if that process is an ancestor of this one.
    """
    if owner is not None and _is_ancestor(owner.process):
        return *(owner.root if owner.is_child else owner.identity), 0
    return 0, 0, find_job()


def find_children(path: str) -> "list[str]":
    """The traces that child processes of this recording have written beside it."""
    header = read_header(path)
    if header is None or header.is_child:
        return []
    return [other for other, found, _ in _find_beside(path) if _is_child_of(found, header)]


def remove_old(path: str, old: "Header") -> None:
    """Removes traces of the recording that `path` held before: those of its child processes, and
    those of ranks that the present job does not have. Files that are not known to belong to it
    stay."""
    from monitorch import _recorder

    roots = [old]
    beside = list(_find_beside(path))
    world = _trace_path.find_world_size()
    if old.job and world and old.job != find_job():
        for other, found, ranks in beside:
            is_rank = len(ranks) == 1 and ranks[0].startswith("rank")
            if is_rank and int(ranks[0][4:]) >= world and found.job == old.job:
                if _recorder.remove_trace(other):
                    roots.append(found)
    for other, found, _ in beside:
        if any(_is_child_of(found, root) for root in roots):
            _recorder.remove_trace(other)


def _is_child_of(found: Header, root: Header) -> bool:
    return root.start != 0 and found.root == root.identity


def _find_beside(path: str) -> "Iterator[tuple[str, Header, list[str]]]":
    """Traces whose names derive from this one: `run.4711.mtrace`, `run.rank3.mtrace` for
    `run.mtrace` or `run.rank0.mtrace`; with the added words."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    stem, ending = (stem, dot + ending) if stem else (name, "")
    first, point, rank = stem.rpartition(".")
    if first and _is_rank(rank):
        stem = first
    try:
        names = sorted(posix.listdir(folder + slash or "."))
    except OSError:
        return
    for other in names:
        words = other[len(stem) + 1 : len(other) - len(ending)].split(".")
        if other == name or other != ".".join([stem, *words]) + ending:
            continue
        if all(word.isdigit() or _is_rank(word) for word in words):
            header = read_header(folder + slash + other)
            # A file that the user has copied may have another name.
            if header is not None and (not header.is_child or str(header.process) in words):
                yield folder + slash + other, header, words


def _is_rank(word: str) -> bool:
    return word.startswith("rank") and word[4:].isdigit()


# Processes


def _is_ancestor(process: int) -> bool:
    """Whether the process is an ancestor of this one."""
    parent = posix.getppid()
    for _ in range(_ANCESTOR_LIMIT):
        if parent == process:
            return True
        found = _read_status(parent)
        if found is None or parent <= 1:
            return False
        parent = found[0]
    return False


def _read_status(process: int) -> "tuple[int, int] | None":
    """(its parent, its start time); None if the system does not report them."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
        return int(words[1]), int(words[19])
    except (OSError, ValueError, IndexError):
        return None


def find_job() -> int:
    """The number of the job that started this rank; no other job on any machine has it. 0 if it is
    not known, or if this is no rank."""
    if not _trace_path.find_world_size():
        return 0
    launcher = posix.getppid()
    status = _read_status(launcher)
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read().strip()
    except OSError:
        return 0
    if status is None:
        return 0
    from monitorch import _recorder

    text = b"%s %d %d" % (boot, launcher, status[1])
    return int(_recorder.source_hash(text)[:16], 16)

