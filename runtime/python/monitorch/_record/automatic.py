"""The recording that MONITORCH in the environment requests: it starts here, with a summary at exit.

The first instrumented file may be one that Python loads while it starts. So this module imports
only built-in modules, and no error may reach the program.
"""

import posix
import sys
from atexit import register as _register_at_exit

from monitorch import _registry
from monitorch._record import options as _options
from monitorch._record import recording as _recording
from monitorch._record import related as _related
from monitorch._record import summary as _summary
from monitorch._record import trace_path as _trace_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_EBUSY = 16


def begin(environment: "Mapping[bytes, bytes]") -> None:
    is_quiet = False
    text = environment[b"MONITORCH"].decode(
        sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
    )
    try:
        path, options = _options.parse(text)
        is_quiet = bool(options.pop("quiet", False))
        recording = _start(path, options, is_quiet)
    except Exception as error:
        if not is_quiet:
            _say(f"MONITORCH: {_describe(error)}; nothing is recorded")
        return
    if not is_quiet:
        _register_at_exit(write_summary, recording, posix.getpid())


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _start(path: str, options: "dict[str, object]", is_quiet: bool) -> "_recording.Recording":
    def start(path: str, owner: "_related.Header | None" = None) -> "_recording.Recording":
        recording = _recording.record(path, **options)  # type: ignore[arg-type]
        recording.is_quiet = is_quiet
        recording.is_whole = True
        recording.owner = owner
        return recording.start()

    # Workers share the variable. Their parent may record nothing, so that no process writes the
    # file.
    if not _recording.is_worker():
        try:
            return start(path)
        except OSError as error:
            if error.errno != _EBUSY:
                raise
        # Another process writes that file: usually the one that started this process.
    owner = _related.read_header(_trace_path.add_rank(path))
    recording = start(_trace_path.add_word(path, str(posix.getpid())), owner)
    made = _related.read_header(recording.absolute_path)
    if owner is not None and made is not None and not made.is_child:
        recording.avoided = path, owner.process
    return recording


def _end(recording: "_recording.Recording", process: int) -> "_recording.Summary | None":
    """Ends the recording with its program. Returns its summary, or None if another process prints
    it."""
    recording.is_quiet = True  # the summary is all that is printed at its end
    summary = recording.stop()
    if summary is None or posix.getpid() != process or _recording.is_worker():
        return None
    _flush_output()
    return summary


def write_summary_json(recording: "_recording.Recording", process: int) -> None:
    """Prints at exit what was recorded, in the form of docs/reference/schemas/run.json."""
    summary = _end(recording, process)
    if summary is None:
        return
    import json

    answer: "dict[str, object]" = {
        "record": "run",
        "trace": summary.path,
        "events": summary.events,
        "bytes": summary.size,
        "nan": summary.nan,
        "lost": summary.lost,
        "left_out": summary.left_out,
        "children": summary.paths[1:],
    }
    if summary.stopped is not None:
        answer["stopped"] = summary.stopped
    elif summary.events == 0:
        answer["message"] = _find_reason(summary, recording)
    _write(json.dumps(answer) + "\n")


def write_summary(recording: "_recording.Recording", process: int) -> None:
    """Prints at exit one line on the recording, and the command that shows it."""
    summary = _end(recording, process)
    if summary is None:
        return
    for text in recording.explain_unused():
        _say(text)
    if summary.events == 0 and summary.stopped is None:
        _say(f"nothing recorded in {summary.path}: {_find_reason(summary, recording)}")
        return
    kept = recording.last
    count = f"{summary.events:,} events"
    if 0 < kept < summary.events:
        count = f"about the last {kept:,} of {count}"
    if recording.steps.last:
        count = f"about the last {recording.steps.last:,} steps of {count}"
    text = f"{count} in {summary.path} ({_format_size(summary.size)})"
    if summary.nan:
        text += f", {summary.nan:,} with NaN"
    if summary.stopped is not None:
        text += f"; recording ended early: {summary.stopped}"
    if summary.lost:
        text += f"; {summary.lost:,} events were lost"
    others = len(summary.paths) - 1
    if others:
        files = "trace of a child process" if others == 1 else "traces of child processes"
        text += f"; {others} {files}: {_trace_path.add_word(summary.path, '*')}"
    if recording.avoided is not None:
        path, writer = recording.avoided
        text += f"; {path} was being written by another program, process {writer}"
    viewer = "why" if summary.nan else recording.viewer
    _say(f"{text}: monitorch {viewer} {_quote(summary.path)}")
    if summary.left_out and summary.stopped is None:
        _say(_summary.describe_left_out(summary))


def _flush_output() -> None:
    """Flushes the program's output, which must come first if both go to one file."""
    try:
        sys.stdout.flush()
    except Exception:
        return  # closed; the interpreter reports it at its end


def _find_reason(summary: "_recording.Summary", recording: "_recording.Recording") -> str:
    included, no_step = recording.included, recording.explain_steps()
    if no_step is not None:
        return no_step
    is_run = "monitorch._run.run" in sys.modules
    if summary.imports:
        option = "--imports" if is_run else "the option imports=yes"
        return f"what ran did so while modules were imported; record it with {option}"
    if is_run:
        return "nothing that could be recorded ran in the selected files"
    if included is not None:
        return included.explain_nothing()
    if not _registry.has_started():
        return (
            "no instrumented code was imported; to record a program as it is: "
            f"monitorch run {_find_script()}"
        )
    return "instrumented code was imported, but none of its lines ran"


def _find_script() -> str:
    """The script as the command line named it; otherwise an example."""
    words = sys.argv[:1] if hasattr(sys, "argv") else []
    return _quote(words[0]) if words and words[0].endswith(".py") else "train.py"


def _format_size(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "KB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.1f} {unit}" if unit != "bytes" else f"{size} bytes"
        amount /= 1000
    return f"{amount:.1f} TB"


def _quote(path: str) -> str:
    """Quotes the path for a shell."""
    if path and all(c.isalnum() or c in "_./-+=:,@%" for c in path):
        return path
    return "'" + path.replace("'", "'\"'\"'") + "'"


def _say(text: str) -> None:
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    _write(f"monitorch: {text}\n")


def _write(line: str) -> None:
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except Exception:
        # stderr is closed or not open yet, or its encoding lacks a letter of the text.
        try:
            posix.write(2, line.encode("utf-8", "backslashreplace"))
        except OSError:
            pass
