"""The recording of one test, and its checks: NaN, and the golden trace."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from monitorch._record import automatic as _automatic
from monitorch._record import recording as _recording
from monitorch._run import command as _command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pytest

    from monitorch._pytest.golden import Golden

_MEMORY = "/dev/shm"
_MEMORY_FREE = 4 << 30  # in bytes; with less, a long test could fill the memory
_DEPTH = "2"  # the number of steps back from a NaN that are printed
_ANSWERS_MAX = 20  # the most infinities of the forward to skip in the search for a gradient
_ALLOW = "\n\nif the test makes it on purpose: @pytest.mark.monitorch_allow_nan"


def _make_folder() -> str:
    """Makes the trace's folder, in memory if there is room: on a disk a short test lasts ten times
    as long."""
    try:
        state = os.statvfs(_MEMORY)
        if "TMPDIR" not in os.environ and state.f_bavail * state.f_frsize >= _MEMORY_FREE:
            return tempfile.mkdtemp(prefix="monitorch-", dir=_MEMORY)
    except OSError:
        pass
    return tempfile.mkdtemp(prefix="monitorch-")


class Watch:
    """The watch of one test. Its events are in a trace of their own, or part of the active
    recording."""

    def __init__(self, item: "pytest.Item") -> None:
        self._item = item
        self._forbidden = ""  # "", "nan" or "nonfinite"
        self._golden: "Golden | None" = None
        self._folder = ""
        self._recording: "_recording.Recording | None" = None
        self._first = 0
        self._found: "list[tuple[str, str]]" = []

    def forbid(self, what: str) -> None:
        """Forbids values from now on: "nan", or all that is "nonfinite"."""
        if self._forbidden != "nonfinite":
            self._forbidden = what
        if self._recording is None:
            self._begin()

    def compare(self, golden: "Golden") -> None:
        """Records the test from now on into a trace that holds nothing else."""
        active = _recording.find_any()
        if active is not None and not active.is_paused and active is not self._recording:
            golden.leave_out(f"{active.path} records the whole run")
            return
        self.end()
        self._golden = golden
        self._begin()

    def _begin(self) -> None:
        from monitorch import _recorder

        active = _recording.find_any()
        if active is None or active.is_paused:
            self._folder = _make_folder()
            # The option leaves compiled graphs whole: no test asked for it.
            mode = "skip" if self._forbidden == "nonfinite" else "break"
            path = os.path.join(self._folder, "test.mtrace")
            active = _recording.record(
                path, sources=True, compile=mode, backward=self._has_backward()  # type: ignore[arg-type]
            )
            active.is_quiet = True
            active.start()
            active.gives_way = True
        self._recording = active
        self._first = _recorder.event_count()
        self._follow()

    def _has_backward(self) -> bool:
        is_marked = self._item.get_closest_marker("monitorch_backward") is not None
        return is_marked or bool(self._item.config.option.monitorch_backward)

    def _follow(self) -> None:
        """Follows code that was imported before: it is instrumented only if that was requested from
        the start."""
        from monitorch._compile import import_hook as _import_hook
        from monitorch._follow import follow as _follow
        from monitorch._pytest import record as _pytest_record

        if _import_hook.get() is not None:
            return
        selected = _pytest_record.select(self._item.config, [])
        _follow.begin(
            self, sys._getframe(), lambda path, _: os.path.isabs(path) and selected.has("", path)
        )

    def finish(self, has_passed: bool) -> "list[tuple[str, str]]":
        """Ends the watch. Returns the (title, text) of each fault. `has_passed` does not count
        these faults."""
        golden = self._golden
        if golden is not None and not has_passed:
            golden.leave_out("")
        self.end()
        found, self._found = self._found, []
        return found

    def end(self) -> None:
        """Ends the recording and runs the checks. May be called again."""
        from monitorch import _recorder
        from monitorch._follow import follow as _follow

        _follow.end(self)
        recording, self._recording = self._recording, None
        if recording is None:
            return
        if recording.is_active:
            _recorder.flush()
        path = _recorder.path() if recording.is_active else recording.absolute_path
        if self._folder:
            self._note_early_end(recording.stop())
        try:
            self._ask(path or recording.absolute_path)
        finally:
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _note_early_end(self, summary: "Any") -> None:
        """Notes for pytest's summary that later code was not checked."""
        if summary is not None and summary.stopped is not None:
            text = f"{self._item.nodeid}: not recorded to its end: {summary.stopped}"
            self._item.user_properties.append(("monitorch", text))

    def _ask(self, trace: str) -> None:
        """Runs the checks. The golden trace is last: it is not written if it has a NaN."""
        if self._forbidden and not self._found:
            explain = _explain if self._forbidden == "nan" else _explain_unmeant
            text = explain(trace, self._first) or _explain_backward(trace, self._first)
            if text:
                self._found.append(("monitorch", text))
        golden, self._golden = self._golden, None
        if golden is not None:
            text = golden.compare(trace, may_write=not self._found)
            if text:
                self._found.append(("monitorch golden", text))


def _find_nonfinite(
    trace: str, first: int, wants_infinities: bool
) -> "tuple[int, str, int, str] | None":
    """The (number, file, line, name) of the first event from `first` on that holds NaN, or an
    infinity."""
    from monitorch._load import load

    columns = ["seq", "file", "line", "name", "nan", "value"]
    events: "Any" = load(trace, columns=columns, nan=True)
    for number, file, line, name, count, value in zip(*(events[column] for column in columns)):
        # An array has counts of them; a number has none.
        has_nan = count > 0 or (count < 0 and value != value)
        if number >= first and (wants_infinities or has_nan):
            return number, file, line, name
    return None


def _ask_why(trace: str, event: str, *options: str) -> "tuple[int, str]":
    """The exit code and the output of `monitorch why`; 3 if it failed."""
    command = _command.find_command()
    if command is None:
        return 3, ""
    words = [command, "why", "--quiet", "--color=never", *options, trace, event]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        _automatic._say(done.stderr.strip())
        return 3, ""
    return done.returncode, done.stdout


def _why(trace: str, event: str) -> "tuple[int, str]":
    from monitorch._record.nonfinite import _shorten

    code, text = _ask_why(trace, event, f"--depth={_DEPTH}")
    return code, _shorten(text.rstrip())


def _explain_backward(trace: str, first: int) -> str:
    """Explains the first gradient that is not finite, or the first such parameter that a step
    wrote. Empty if there is none."""
    for _ in range(_ANSWERS_MAX):
        code, text = _ask_why(trace, f"#{first}+", "--json")
        answer = json.loads(text) if code == 1 and text else {}
        producers = answer.get("producers", [])
        if not producers:
            return ""
        if any("gradient" in one or "parameter" in one for one in producers):
            return _why(trace, f"#{first}+")[1]
        first = answer["event"]["seq"] + 1  # skips an infinity of the forward, which is allowed
    return ""


def _explain(trace: str, first: int) -> str:
    """Explains the first event from `first` on that holds NaN. Empty if there is none."""
    from monitorch._record.nonfinite import _shorten

    found = _find_nonfinite(trace, first, False)
    if found is None:
        return ""
    number, file, line, name = found
    code, text = _why(trace, f"#{number}")
    return text if code == 1 else _shorten(f"{file}:{line}: {name}: holds NaN")


def _explain_unmeant(trace: str, first: int) -> str:
    """Explains the first NaN from `first` on, or infinity that its line does not name. Empty if
    there is none."""
    from monitorch._record.nonfinite import _shorten

    found = _find_nonfinite(trace, first, True)
    if found is None:
        return ""
    number, file, line, name = found
    code, text = _why(trace, f"#{number}+")
    if code == 0:
        return ""
    return (text if code == 1 else _shorten(f"{file}:{line}: {name}: holds NaN or Inf")) + _ALLOW
