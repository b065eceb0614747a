"""The summary of a recording that has ended."""

import posix
import sys

from monitorch import _registry
from monitorch._flow.caller import find_caller, is_private
from monitorch._record import related as _related

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from monitorch._record import included as _included
    from monitorch._recorder import Summary as _Written


class Summary:
    """The totals of an ended recording: events, NaNs, traces, size."""

    __slots__ = (
        "path", "paths", "events", "nan", "lost", "imports", "size", "stopped", "left_out",
        "left_out_places",
    )  # fmt: skip

    path: str
    """The trace of this process."""
    paths: "list[str]"
    """All traces: this one, and those of child processes beside it."""
    events: int
    """The number of events that were recorded in this process."""
    nan: int
    """The number of them that hold a NaN: values and gradients."""
    lost: int
    """The number of events that could not be written: see `stopped`."""
    imports: int
    """The number of visits of lines that were left out because a module was being imported."""
    size: int
    """The size of this process's trace, in bytes."""
    stopped: "str | None"
    """The reason why recording ended by itself: a full disk, the size limit, a value of `stop`; or
    None."""

    left_out: int
    """The number of visits of lines without tensors that were not recorded: see `scalars`."""
    left_out_places: "list[tuple[str, int, int]]"
    """The lines with the most of them: file, line, number."""

    def __init__(self, written: "_Written", path: str) -> None:
        self.path = path
        self.paths = [path, *_find_children(path, written["path"])]
        self.events = written["events"]
        self.nan = written["nan"]
        self.lost = written["lost"]
        self.imports = written["imports"]
        self.size = _find_size(written["path"])
        self.stopped = written["stopped"]
        self.left_out = written["left_out"]
        self.left_out_places = written["left_out_places"]
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
    """The children's traces, named like `path`, which may be relative to an earlier current
    folder."""
    folder, slash, _ = path.rpartition("/")
    names = [other.rpartition("/")[2] for other in _related.find_children(absolute)]
    return [folder + slash + name for name in names]


def complain(
    summary: Summary,
    included: "_included.Included | None",
    is_worker: bool,
    no_step: "str | None",
    unused: "list[str]",
) -> None:
    """Warns of everything that a successful recording would not have.

    A worker of multiprocessing may well have nothing to record. `no_step` is the reason why no
    training step was recorded; `unused` has the selections that matched nothing.
    """
    place = _find_place()
    texts = list(unused)
    if summary.stopped is not None:
        texts.append(f"recording to {summary.path} ended early: {summary.stopped}")
    elif summary.events == 0 and not is_worker:
        reason = no_step or _find_reason(summary, included, place)
        texts.append(f"nothing recorded in {summary.path}: {reason}")
    for text in texts:
        _warn(text, place)


def _find_reason(
    summary: Summary, included: "_included.Included | None", place: "_Place"
) -> str:
    if summary.imports:
        return "what ran did so while modules were imported; record it with imports=True"
    if included is not None:
        return included.explain_nothing()
    if _registry.has_started():
        compiled = "; torch.compile runs no lines of the code that it compiled"
        return (
            "instrumented code was imported, but none of its lines ran between the start and the "
            "end of the recording" + (compiled if "torch._dynamo" in sys.modules else "")
        )
    return f"no instrumented code was imported; {_propose(place)}"


def _propose(place: "_Place") -> str:
    """The way to record the program that contains the place."""
    module = place.names.get("__name__")
    module = module if isinstance(module, str) else "__main__"
    file = place.source
    way = f"pass include={module!r} to record code as it is"
    if module == "__main__" and isinstance(file, str):
        return f"run `monitorch run {file.rpartition('/')[2]}` instead, or {way}"
    return way


class _Place:
    """The place of a warning: a file and a line of the program, and its module."""

    def __init__(self, names: "dict[str, Any]", file: str, line: int) -> None:
        self.names, self.file, self.line = names, file, line
        self.source: object = names.get("__file__")


def _find_place() -> _Place:
    """The line that ended the recording. At exit no line did: then line 0 of the program's file."""
    frame = find_caller()
    if not is_private(frame):
        return _Place(frame.f_globals, frame.f_code.co_filename, frame.f_lineno)
    names = vars(sys.modules["__main__"]) if "__main__" in sys.modules else {}
    script = sys.argv[0] if sys.argv and not sys.argv[0].startswith("-") else ""
    place = _Place(names, script or "<exit>", 0)
    place.source = place.source or script or None  # Python has removed it from the names
    return place


def _warn(text: str, place: _Place) -> None:
    import warnings

    try:
        warnings.warn_explicit(f"monitorch: {text}", RuntimeWarning, place.file, place.line)
    except Warning:
        pass  # warnings may be errors, and one here would hide an exception on its way
