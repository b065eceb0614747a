"""Recording: the start, the state and the end of a recording."""

import posix
import sys
from _thread import RLock
from atexit import register as _register_at_exit

from monitorch._flow.caller import find_caller
from monitorch._flow.offer import offer
from monitorch._record import hooks as _hooks
from monitorch._record import options as _options
from monitorch._record import related as _related
from monitorch._record import steps as _steps
from monitorch._record import trace_path as _trace_path
from monitorch._record.summary import Summary as Summary
from monitorch._record.summary import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike
    from types import FrameType
    from typing import Any, Literal

    from monitorch._flow import trace as _flow_trace
    from monitorch._record import graft as _graft
    from monitorch._record import included as _included
    from monitorch._record import noise as _noise

_lock = RLock()
_active: "Recording | None" = None
_last_path: "str | None" = None
_is_set_up = False


class Recording:
    """One recording, made by `monitorch.record`.

    `start()` or a `with` statement begins it. `stop()`, the end of that statement, or the end of
    the program ends it.
    """

    path: str
    """The path of the trace."""
    summary: "Summary | None"
    """The summary; None before the end."""
    is_quiet: bool
    """Whether it prints nothing to stderr; set before the start."""
    is_paused: bool
    """Whether it is paused: active, but recording nothing."""
    stopper: str
    """The call by which a program ends it, for messages."""
    viewer: str
    """The command that shows the recording, for messages."""
    gives_way: bool
    """Whether a recording of the program's own may begin, which ends this one."""
    reader: "_flow_trace.Trace | None"
    """The trace of `monitorch.on`, if the recording was begun only for it. While that trace holds no
    events, another recording may begin, from which the picture is then drawn."""
    is_replaced: bool
    """Whether the recording that ended this one is written to the same file."""
    is_whole: bool
    """Whether it records the whole program, and no present import began before it."""
    owner: "_related.Header | None"
    """The recording that has the requested path: its process may have started this one."""
    avoided: "tuple[str, int] | None"
    """The requested path, and the process of another program that was writing it."""
    included: "_included.Included | None"
    """The code that is followed without instrumentation."""
    last: int
    """The approximate number of newest events that are kept; 0: all."""
    steps: "_steps.Selection"
    """The training steps that are recorded."""

    def __init__(
        self,
        path: str,
        mode: str,
        options: "dict[str, object]",
        include: "tuple[str, ...]",
        steps: "_steps.Selection" = _steps.ALL,
        condition: "_steps.Condition | None" = None,
        change: "_graft.Graft | _noise.Noise | None" = None,
    ) -> None:
        self._is_forgotten = False
        self._absolute = _trace_path.make_absolute(path)
        self._is_forgotten = True  # until it starts
        self._has_begun = False
        self._mode = mode
        self._options = options
        self.included = None
        if include:
            self._include(include)
        self.last = int(options["last"])  # type: ignore[call-overload]
        self._process = 0
        self.path = path
        self.summary = None
        self.is_quiet = False
        self.gives_way = False
        self.reader = None
        self.stopper = "monitorch.stop()"
        self.viewer = "show"
        self.is_replaced = False
        self.is_paused = False
        self.is_whole = False
        self.owner = None
        self.avoided = None
        self.steps = steps
        self._condition = condition  # None: fulfilled already, or not requested
        self._change = change  # changes recorded values
        self._counter: "_steps.Counter | None" = None  # made at the start
        self._is_on = False  # whether the current step is recorded
        self._was_on = False

    @property
    def is_active(self) -> bool:
        """Whether it has started and not ended."""
        return self is _active

    @property
    def absolute_path(self) -> str:
        """The path of the trace, which does not depend on the current folder."""
        return self._absolute

    def start(self) -> "Recording":
        """Starts the recording, and replaces an earlier trace of that name."""
        global _last_path

        self._is_forgotten = False
        with _lock:
            if self._has_begun and not self.is_active:
                raise RuntimeError(
                    f"the recording to {self.path} has ended: call monitorch.record again"
                )
            reader = _end_another(self)
            _start(self)
            _last_path = self._absolute
            if reader is not None:
                reader.move_to(self)
        return self

    def stop(self) -> "Summary | None":
        """Ends the recording and returns its Summary. Any thread may call it, and more than once."""
        with _lock:
            if self.is_active:
                _finish(self)
                if self.summary is not None and not self.is_quiet:
                    unused = [] if is_worker() else self.explain_unused()
                    complain(self.summary, self.included, is_worker(), self.explain_steps(), unused)
            return self.summary

    def end_at(self, text: str) -> str:
        """Ends the recording at a value of `stop`. Returns the trace's path."""
        with _lock:
            if self.is_active:
                _finish(self)
            self.viewer = "why"
            if self.summary is None:
                return self.path
            if self.summary.stopped is None:
                self.summary.stopped = text
            return self.summary.path

    def _follow_from(self, frame: "FrameType") -> None:
        """Records this frame too, and the code that `monitorch.on()` would follow if it were called
        there. To be called before the start."""
        self._include(()).add_frame(frame)

    def _include(self, globs: "tuple[str, ...]") -> "_included.Included":
        if self.included is None:
            from monitorch._record import included as _included

            self.included = _included.Included(globs)
        return self.included

    def pause(self) -> None:
        """Records nothing until `resume()`; meanwhile another recording may begin, which ends
        this one."""
        with _lock:
            if self.is_active and not self.is_paused:
                self.is_paused = True
                _hooks.end_recording()

    def resume(self) -> None:
        with _lock:
            if self.is_active and self.is_paused:
                self.is_paused = False
                if self._is_on:
                    _hooks.begin_recording(self._mode, self.is_quiet)

    def end_step(self) -> None:
        """Ends a training step, for `monitorch.step()`."""
        with _lock:
            if self.is_active and self._counter is not None:
                self._counter.end_step()

    def _begin_step(self, step: int) -> None:
        """Begins a training step, and switches the recording on or off for it."""
        with _lock:
            if not self.is_active:
                return
            if self._condition is not None and self._condition.holds(_steps.find_program_frame()):
                self._condition = None
            self._switch(self._wants(step))
            if self._is_on:
                from monitorch import _recorder

                _recorder.begin_step(step)

    def _wants(self, step: int) -> bool:
        return self._condition is None and self.steps.has(step)

    def _switch(self, is_on: bool) -> None:
        """Gives instrumented code its hooks, or removes them as if nothing was recorded."""
        if is_on == self._is_on:
            return
        self._is_on = is_on
        self._was_on = self._was_on or is_on
        if not self.is_paused:
            if is_on:
                _hooks.begin_recording(self._mode, self.is_quiet)
            else:
                _hooks.end_recording()
        if self.included is not None:
            if is_on:
                self.included.begin(find_caller())
            else:
                self.included.end()

    def explain_unused(self) -> "list[str]":
        """A sentence for each glob of `include` and `values` that matched nothing."""
        texts = [] if self.included is None else self.included.explain_unused()
        names: "Any" = self._options["names"]
        if names and self.summary is not None and self.summary.events > 0:
            from monitorch import _unmatched

            globs = [name.decode("utf-8", "replace") for name in names]
            texts.extend(_unmatched.explain_values(globs, self.summary.path))
        return texts

    def explain_steps(self) -> "str | None":
        """The reason why no step was recorded; None if one was."""
        if self._was_on or self._counter is None:
            return None
        asked = f"start_when={self._condition.text!r} never held" if self._condition else (
            f"steps={self.steps.text} were asked for"
        )
        if self._counter.step == 0:
            return f"{asked}, and no training step ended: call monitorch.step() at the end of each"
        return f"{asked}, and the program ended in training step {self._counter.step:,}"

    def __enter__(self) -> "Recording":
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __del__(self) -> None:
        if self._is_forgotten and not sys.is_finalizing():
            import warnings

            warnings.warn(
                f"monitorch.record({self.path!r}) was not started: write "
                f"`with monitorch.record(…):` or call its start()",
                RuntimeWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        state = "paused" if self.is_paused else "active"
        if not self.is_active:
            state = "ended" if self._has_begun else "not started"
        count = None if self.summary is None else self.summary.events
        if self.is_active:
            from monitorch import _recorder

            count = _recorder.event_count()
        events = "" if count is None else f", {count:,} event{'' if count == 1 else 's'}"
        return f"<monitorch.Recording to {self.path!r}, {state}{events}>"


def record(
    path: "str | bytes | PathLike[str] | PathLike[bytes]",
    *,
    sample: "int | tuple[int, int, int]" = 64,
    last: "int | None" = None,
    stats: bool = True,
    hash: bool = True,
    values: "Literal['all'] | str | Iterable[str] | None" = None,
    sources: bool = False,
    backward: bool = False,
    parameters: bool = False,
    imports: bool = False,
    every: int = 1,
    threads: "Literal['all', 'current']" = "all",
    max_elements: "int | None" = None,
    size_limit: "int | str | None" = None,
    compile: "Literal['break', 'skip']" = "break",
    stop: "Literal['nan', 'inf', 'nonfinite'] | None" = None,
    scalars: "Literal['some', 'all']" = "some",
    include: "str | Iterable[str]" = (),
    steps: "int | str | None" = None,
    start_when: "Callable[[], object] | str | None" = None,
    noise: "bool | Literal['float64', 'float32', 'bfloat16', 'float16']" = False,
    graft: "str | PathLike[str] | None" = None,
    graft_at: "str | Iterable[str] | None" = None,
    graft_map: "Mapping[str, str] | None" = None,
) -> Recording:
    """Makes a recording into the file `path`, which a `with` statement or start() begins.

        with monitorch.record("run.mtrace"):
            train()

    or, from one place to another:

        recording = monitorch.record("run.mtrace").start()
        ...
        recording.stop()        # or, from anywhere: monitorch.stop()

    It records instrumented code, and the code that `include` names as it is. Other code runs as
    always and leaves nothing in the trace. `monitorch show run.mtrace` prints the trace.

    include       record these modules or files without instrumenting them, loaded or imported
                  later: "transformers.models.llama", "__main__", ["model.py", "timm"]
    sample        keep this number of values of each tensor (0: none); or those of the tables of
                  monitorch.on: (max_vector, max_matrix, max_slices)
    last          keep only the newest events, approximately this number
    stats         minimum, maximum, mean, standard deviation, counts of NaN, Inf and zeros
    hash          a hash of each tensor's values, which shows whether they changed
    values        keep whole tensors of these names, or of "all": "q", ["loss", "attn*"]
    sources       also record tensors that a line reads and no recorded line made
    backward      also record the gradient of each recorded value, when a backward makes it;
                  with the parameters
    parameters    also record the modules' parameters: as the forward reads them, and as
                  optimizers leave them
    imports       also record lines that run while a module is imported
    every         record statistics, hash and values at every n-th visit of a line only
    max_elements  record them for tensors of at most this number of elements only
    threads       "all", or "current": only the thread that starts the recording
    size_limit    stop before the file grows beyond this: 2_000_000_000 or "2G"
    compile       what torch.compile does at an instrumented line: "break" its graph, so that
                  the line is recorded, or "skip" the line, which leaves the graph whole
    stop          "nan", "inf" or "nonfinite" (either): the first recorded line that makes such a
                  value raises monitorch.NonFinite, and the recording ends with that value
    scalars       "some": of a line that has never held a tensor, record the first 10,000 visits
                  and those whose number is a power of two; "all": every visit
    steps         record these training steps only: 500, "500-510", "0-2:500-"; or "last:3", the
                  newest whole ones. An optimizer's step() ends a step, or monitorch.step()
    start_when    record from the first step on that begins when this holds: "loss > 10", of a
                  variable in a function that runs then; or a function that returns a bool
    noise         disturb each recorded tensor by an ulp of its dtype (True), or of "bfloat16" …,
                  to find how far apart equal runs are: into run.noise.mtrace beside run.mtrace
    graft         replace each recorded tensor by its counterpart in this reference trace, recorded
                  with values="all": `monitorch diff` then finds the own error of each line
    graft_at      replace only those of these lines: "model.py:12"
    graft_map     names of the reference and their names here: {"old": "new"}

    Only one recording is active at a time; monitorch.on() draws from it, whichever began first.
    Each forked child process writes a trace of its own beside this one (run.1234.mtrace), and so
    does each rank of torchrun (run.rank3.mtrace).

    An existing trace is replaced; any other file is kept.

    Raises OSError if the file cannot be written, RuntimeError if a recording is active, and
    TypeError or ValueError if an option is wrong.
    """
    mode = _options.check_choice("compile", compile, ("break", "skip"))
    options: "dict[str, object]" = {
        "sample": _options.check_sample("sample", sample),
        "last": _options.check_limit("last", last),
        "size_limit": _options.check_size("size_limit", size_limit),
        "stats": _options.check_switch("stats", stats),
        "hash": _options.check_switch("hash", hash),
        "names": _options.check_values(values),
        "sources": _options.check_switch("sources", sources),
        "backward": _options.check_switch("backward", backward),
        "parameters": _options.check_switch("parameters", parameters),
        "imports": _options.check_switch("imports", imports),
        "every": _options.check_number("every", every, 1),
        "max_elements": _options.check_limit("max_elements", max_elements),
        "one_thread": _options.check_choice("threads", threads, ("all", "current")) == "current",
        "all_scalars": _options.check_choice("scalars", scalars, ("some", "all")) == "all",
    }
    if stop is not None:
        from monitorch._record import nonfinite as _nonfinite

        options["stop"] = _nonfinite.read(stop, stats)
    change = _add_change(options, noise, (graft, graft_at, graft_map))
    selection = _steps.read(steps)
    if selection.last > 0 and last is not None:
        raise ValueError(f"last={last} and steps={steps!r} exclude each other")
    options["last_steps"] = selection.last
    condition = _steps.read_condition(start_when)
    globs = _options.check_globs("include", include)
    if globs and stop is not None:
        raise ValueError(
            f"stop={stop!r} needs instrumented code, and include= follows code as it is: run "
            f"`monitorch run --include {globs[0]} --record stop={stop} train.py` instead"
        )
    text = _trace_path.add_rank(_trace_path.decode(path))
    with _lock:
        _refuse_another()
    _trace_path.check_writable(text)
    return Recording(text, mode, options, globs, selection, condition, change)


def _add_change(
    options: "dict[str, object]", noise: object, graft: "tuple[Any, Any, Any]"
) -> "_graft.Graft | _noise.Noise | None":
    """Adds the object that changes recorded values, if one is requested."""
    if noise is False and graft == (None, None, None):
        return None
    from monitorch._record import graft as _graft
    from monitorch._record import noise as _noise

    disturbing, replacing = _noise.read(noise), _graft.read(*graft)
    if disturbing is not None and replacing is not None:
        raise ValueError("noise and graft exclude each other")
    change = disturbing or replacing
    if change is not None:
        options["change"] = change.change
    return change


# As text they would fill the screen in help(); type checkers read them above.
record.__annotations__ = {}
record = offer(record)


def stop() -> "Summary | None":
    """Ends the active recording and returns its Summary, or None if nothing is recorded."""
    with _lock:
        active = find_active()
        return active.stop() if active is not None else None


def step() -> None:
    """Ends a training step, for loops that call no optimizer's step().

    Call it at the end of each turn of the loop. From the first call on, optimizers no longer count.
    Does nothing while nothing is recorded.
    """
    active = _active
    if active is not None:
        active.end_step()


def find_last_path() -> "str | None":
    """The path of the trace of the newest recording."""
    return _last_path


def find_any() -> "Recording | None":
    """The active recording, even if it is paused or gives way to others."""
    return _active


def find_active() -> "Recording | None":
    """The active recording, if any; not one that is paused or gives way to others."""
    active = _active
    return None if active is None or active.is_paused or active.gives_way else active


def _end_another(recording: Recording) -> "_flow_trace.Trace | None":
    """Ends the active recording, if it may be ended, before another one begins. Returns the
    picture's trace that was drawn from it, or None."""
    ended = _active
    if ended is None:
        return None
    reader = None if ended.is_paused else ended.reader
    _refuse_another()
    ended.is_quiet = True
    ended.is_replaced = ended.absolute_path == recording.absolute_path
    summary = ended.stop()
    if summary is not None and summary.stopped is None:
        summary.stopped = "the program began a recording of its own"
    return reader


def _refuse_another() -> None:
    active = _active
    if active is None or active.is_paused or active.gives_way:
        return
    if active.reader is None:
        raise RuntimeError(
            f"monitorch is recording to {active.path} already: call {active.stopper} first"
        )
    if not active.reader.may_move():
        raise RuntimeError(
            f"monitorch is recording to {active.path} already: call {active.stopper} first, "
            "since tensors are held for its picture"
        )


def _import_recorder() -> None:
    try:
        from monitorch import _recorder  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"monitorch cannot record: its extension module _recorder cannot be loaded ({error})"
        ) from None


def _start(recording: Recording) -> None:
    global _active
    _import_recorder()
    from monitorch import _recorder
    from monitorch._record import settings as _settings

    _set_up_once()
    old = _related.read_header(recording._absolute)
    _recorder.start(
        recording._absolute,
        quiet=recording.is_quiet,
        whole=recording.is_whole,
        origin=_related.find_origin(recording.owner),
        **recording._options,  # type: ignore[arg-type]
    )
    if old is not None:
        _related.remove_old(recording._absolute, old)
    _settings.write_start()
    if recording._change is not None:
        recording._change.write_start(recording._absolute)
    _active = recording
    recording._process = posix.getpid()
    recording._has_begun = True
    counter = recording._counter = _steps.Counter(recording._begin_step)
    try:
        if not recording._wants(0):
            _hooks.end_recording()  # observed modules record nothing until the first step either
        recording._switch(recording._wants(0))
        counter.begin()
    except BaseException:
        _finish(recording)
        raise
    _stop_with_worker(recording)


def _finish(recording: Recording) -> None:
    global _active

    try:
        if recording._counter is not None:
            recording._counter.end()
        recording._switch(False)
    finally:
        try:
            _close(recording)
        finally:
            _active = None


def _close(recording: Recording) -> None:
    from monitorch import _recorder
    from monitorch._record import settings as _settings

    if not _recorder.is_recording() or _is_idle_child(recording):
        return
    _settings.write_end()
    if recording._change is not None and posix.getpid() == recording._process:
        recording._change.write_end()
    written = _recorder.stop()
    path = recording.path
    if written["path"] != recording._absolute:
        path = written["path"]  # of a forked child
    recording.summary = Summary(written, path)


def _is_idle_child(recording: Recording) -> bool:
    """Whether this is a forked process that has recorded nothing, and so has no file of its own."""
    from monitorch import _recorder

    return posix.getpid() != recording._process and _recorder.path() == recording._absolute


def _set_up_once() -> None:
    global _is_set_up
    if not _is_set_up:
        _is_set_up = True
        _register_at_exit(_stop_at_exit)
        posix.register_at_fork(after_in_child=_begin_child)


def _stop_at_exit() -> None:
    with _lock:
        if _active is not None:
            _active.stop()


def _begin_child() -> None:
    """In a forked child: the recorder continues into a file of the child's own."""
    global _lock
    _lock = RLock()  # another thread of the parent may have held it
    util = sys.modules.get("multiprocessing.util")
    if _active is not None and util is not None:
        # Such a child exits without calling atexit functions.
        util.register_after_fork(_active, _stop_with_process)


def is_worker() -> bool:
    """Whether multiprocessing made this process; also true while the process starts."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and (
        process.parent_process() is not None or hasattr(process.current_process(), "_inheriting")
    )


def _stop_with_worker(recording: Recording) -> None:
    """Ends the recording with the process, for one that begins in a process of multiprocessing."""
    util = sys.modules.get("multiprocessing.util")
    if util is None or not is_worker() or "--multiprocessing-fork" in sys.orig_argv:
        return  # a spawned process calls atexit functions
    if sys.modules["multiprocessing.process"].parent_process() is not None:
        _stop_with_process(recording)
    else:  # at its start the process clears the functions to call at its end
        util.register_after_fork(recording, _stop_with_process)


def _stop_with_process(recording: Recording) -> None:
    util = sys.modules["multiprocessing.util"]
    util.Finalize(None, recording.stop, exitpriority=-1000)
