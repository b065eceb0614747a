"""The trace that `monitorch.on` records into: its own, or that of the active recording."""

import os
import shutil
import tempfile

from monitorch._record import recording as _recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from monitorch._flow.settings import Settings

_IDENTITY = slice(16, 40)  # of a trace's header: when it began, and in which process


class Trace:
    """A trace. Events from `first_event` on are held for the next picture."""

    first_event: int

    def __init__(self, settings: "Settings") -> None:
        self._folder: "str | None" = None
        self._attach(_recording.find_active() or self._begin(settings))

    def _attach(self, recording: "_recording.Recording") -> None:
        from monitorch import _recorder

        self._recording = recording
        self._process = os.getpid()
        self._identity = _read_identity(recording.absolute_path)
        self.first_event = _recorder.event_count()

    def move_to(self, recording: "_recording.Recording") -> None:
        """Moves to a recording that the program has begun. It ended the private one before any
        event was held."""
        self.close()
        self._folder = None
        self._attach(recording)

    def _begin(self, settings: "Settings") -> "_recording.Recording":
        folder = tempfile.mkdtemp(prefix="monitorch-")
        try:
            recording = _recording.record(
                os.path.join(folder, "flow.mtrace"),
                sample=settings.sample(),
                sources=True,
                last=settings.last,
            )
            recording.stopper = "monitorch.off()"
            recording.reader = self
            recording.start()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._folder = folder
        return recording

    @property
    def is_own(self) -> bool:
        """Whether the trace was made for pictures only."""
        return self._folder is not None

    @property
    def is_active(self) -> bool:
        """Whether its recording is active or paused: a program may end it."""
        return self._recording.is_active

    @property
    def next_event(self) -> int:
        """The number of the next event."""
        from monitorch import _recorder

        if self.is_active:
            return _recorder.event_count()
        summary = self._recording.summary
        return 0 if summary is None else summary.events

    @property
    def is_empty(self) -> bool:
        return self.next_event <= self.first_event

    def may_move(self) -> bool:
        """Whether no event is held that a picture shows: numbers and texts alone are not drawn."""
        from monitorch import _view

        if self.is_empty:
            return True
        self.flush()
        drawn = _view.render(self.path, "dot", first_event=self.first_event, max_nodes=1)
        return not drawn["nodes"]

    @property
    def path(self) -> str:
        """The path of the trace; a forked child has a file of its own."""
        from monitorch import _recorder

        path = _recorder.path() if self.is_active else None
        return self._recording.absolute_path if path is None else path

    def is_there(self) -> bool:
        """Whether the file still holds these events. It may have been removed or replaced by
        another recording."""
        if os.getpid() != self._process:
            return os.path.exists(self.path)
        return self._identity == _read_identity(self.path)

    def pause(self) -> None:
        """Stops holding events, if the recording is private."""
        if self.is_own:
            self._recording.pause()

    def resume(self) -> None:
        if self.is_own:
            self._recording.resume()

    def flush(self) -> None:
        """Makes all recorded events readable."""
        from monitorch import _recorder

        if self.is_active:
            _recorder.flush()

    def enter_child(self) -> None:
        """Adjusts a forked process: the events and the folder belong to the parent."""
        self.first_event = 0

    def close(self) -> None:
        """Forgets the events, and removes the trace if it is private."""
        if not self.is_own:
            return
        is_child = os.getpid() != self._process
        path = self.path
        if self.is_active:
            self._recording.is_quiet = True  # the pictures replace the summary
            self._recording.stop()
        if not is_child:
            shutil.rmtree(self._folder or "", ignore_errors=True)
        elif path != self._recording.absolute_path:
            try:
                os.unlink(path)
            except OSError:
                pass  # the parent has removed the folder


def _read_identity(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_IDENTITY.stop)[_IDENTITY]
    except OSError:
        return b""
