"""What the fixture `monitorch_no_nan` does: the test is recorded, and the first NaN explained."""

import os
import shutil
import subprocess
import sys
import tempfile

from monitorch import _automatic, _command, _record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

_DEPTH = "2"  # steps back that are told of what a NaN was made from


class Watch:
    """Of one test. Its events are in a trace of their own, or part of what is being recorded."""

    def __init__(self, request: "pytest.FixtureRequest") -> None:
        self._request = request
        self._folder = ""
        self._recording: "_record.Recording | None" = None
        self._first = 0
        self._follows = False
        self._found: "str | None" = None

    def begin(self) -> None:
        from monitorch import _recorder

        active = _record.find_any()
        if active is None or active.is_paused:
            self._folder = tempfile.mkdtemp(prefix="monitorch-")
            active = _record.record(os.path.join(self._folder, "test.mtrace"), sources=True)
            active.is_quiet = True
            active.start()
            active.gives_way = True
        self._recording = active
        self._first = _recorder.event_count()
        self._follow()

    def _follow(self) -> None:
        """What was imported before is not instrumented, unless that was asked for from the start."""
        from monitorch import _follow, _import, _pytest_record

        if _follow.is_on() or _import.get() is not None:
            return
        selected = _pytest_record.select(self._request.config, [])
        _follow.begin(sys._getframe(), lambda path, _: os.path.isabs(path) and selected.has("", path))
        self._follows = True

    def end(self) -> str:
        """What is to be told of the first NaN; empty where there is none. May be called again."""
        if self._found is None:
            self._found = self._finish()
        return self._found

    def _finish(self) -> str:
        from monitorch import _follow, _recorder

        if self._follows and _follow.is_on():
            _follow.end()
        recording = self._recording
        if recording is None:
            return ""
        if recording.is_active:
            _recorder.flush()
        path = _recorder.path() if recording.is_active else recording.absolute_path
        if self._folder:
            recording.stop()
        try:
            return _explain(path or recording.absolute_path, self._first)
        finally:
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)


def _explain(trace: str, first: int) -> str:
    """Of the first event from `first` on that holds NaN."""
    from monitorch._load import load
    from monitorch._nonfinite import _shorten

    events = load(trace, columns=["seq", "nan", "file", "line", "name"], nan=True)
    places = zip(events["seq"], events["nan"])
    place = next((i for i, (seq, nan) in enumerate(places) if seq >= first and nan > 0), None)
    if place is None:
        return ""
    command = _command._find_command()
    if command is not None:
        words = [command, "why", "--quiet", "--color=never", f"--depth={_DEPTH}", trace]
        done = subprocess.run([*words, f"#{events['seq'][place]}"], capture_output=True, text=True)
        if done.returncode == 1:
            return _shorten(done.stdout.rstrip())
        _automatic._say(done.stderr.strip())
    file, line, name = (events[column][place] for column in ("file", "line", "name"))
    return _shorten(f"{file}:{line}: {name}: holds NaN")
