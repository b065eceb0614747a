"""What a recording has written, as it is told when it ends."""

import posix
import sys

from monitorch import _registry, _related

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from monitorch._recorder import Summary as _Told

_OURS = ("monitorch._record", "monitorch._summary")  # frames that a warning is not about


class Summary:
    """What a recording has written."""

    __slots__ = (
        "path", "paths", "events", "lost", "imports", "size", "stopped", "left_out",
        "left_out_places",
    )  # fmt: skip

    path: str
    """The trace of this process."""
    paths: "list[str]"
    """All traces: this one, and those of child processes beside it."""
    events: int
    """How many events were recorded in this process."""
    lost: int
    """How many could not be written: see `stopped`."""
    imports: int
    """How many visits of lines were left out since a module was being imported."""
    size: int
    """Of the trace of this process, in bytes."""
    stopped: "str | None"
    """Why recording ended by itself: a full disk, the size limit, a value that it was to stop at; or
    None."""

    left_out: int
    """How many visits of lines that never held a tensor were not recorded: see `scalars`."""
    left_out_places: "list[tuple[str, int, int]]"
    """The lines with the most of them: file, line, how many."""

    def __init__(self, told: "_Told", path: str) -> None:
        self.path = path
        self.paths = [path, *_find_children(path, told["path"])]
        self.events = told["events"]
        self.lost = told["lost"]
        self.imports = told["imports"]
        self.size = _find_size(told["path"])
        self.stopped = told["stopped"]
        self.left_out = told["left_out"]
        self.left_out_places = told["left_out_places"]
        if self.stopped is None and self.size == 0:
            self.stopped = "its file was removed or renamed meanwhile"

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"Summary({fields})"


def describe_left_out(summary: Summary) -> str:
    """`left out 89,983 visits of lines without tensors (data.py:12, data.py:11): …`"""
    places = ", ".join(f"{file}:{line}" for file, line, _ in summary.left_out_places)
    others = ", …" if sum(n for _, _, n in summary.left_out_places) < summary.left_out else ""
    return (
        f"left out {summary.left_out:,} visits of lines that never held a tensor "
        f"({places}{others}): scalars=all records them"
    )


def _find_size(path: str) -> int:
    try:
        return posix.stat(path).st_size
    except OSError:
        return 0


def _find_children(path: str, absolute: str) -> "list[str]":
    """Named like `path`, which may be relative to a folder that the program has left."""
    folder, slash, _ = path.rpartition("/")
    names = [other.rpartition("/")[2] for other in _related.find_children(absolute)]
    return [folder + slash + name for name in names]


def complain(summary: Summary) -> None:
    """Warns of what nobody would expect of a recording that went well."""
    text = None
    if summary.stopped is not None:
        text = f"recording to {summary.path} ended early: {summary.stopped}"
    elif summary.events == 0 and not _registry.has_started():
        text = (
            f"nothing recorded in {summary.path}: no instrumented code was imported "
            "(see monitorch-instrument --help)"
        )
    elif summary.events == 0 and summary.imports:
        text = (
            f"nothing recorded in {summary.path}: what ran did so while modules were imported "
            "(record it with imports=True)"
        )
    if text is None:
        return
    import warnings

    frame: "FrameType | None" = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") in _OURS:
        frame = frame.f_back
    try:
        place = ("monitorch", 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        warnings.warn_explicit(f"monitorch: {text}", RuntimeWarning, *place)
    except Warning:
        pass  # they are made errors, and an error here would hide one that is on its way
