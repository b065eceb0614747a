"""Following of code that was not instrumented: a plain script, a notebook, and the code they call.

`begin(owner, frame, is_followed)` and `end(owner)`. The running frame, its callers and every
function called later are followed if an owner's `is_followed(filename, module)` returns so. They
are recorded as if their files had been instrumented: by the compiler's sites, through the same
hook. `monitorch.on()`, a recording with `include` and a test are owners; code that several of them
follow is recorded once. Python 3.10 and 3.11 use a trace function in C, which also calls the one
that was set before; 3.12 and later use sys.monitoring.
"""

import os
import sys
from types import CodeType, FrameType

from monitorch import _instrument, _recorder, _registry
from monitorch._compile import loaded as _loaded
from monitorch._follow import plan as _plan
from monitorch._record import source as _source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    # True, False, or the wanted lines as (first, last).
    Decision = bool | tuple[tuple[int, int], ...]

_SOURCE_LIMIT = 256  # sources that are kept
_HAS_MONITORING = sys.version_info >= (3, 12)
# Other tools have fixed numbers: 0 debuggers, 1 coverage, 2 profilers.
_TOOL_IDS = (4, 3, 5, 2, 1, 0)
_TOOL_NAME = "monitorch"


class _Followed:
    """A source that is followed: its sites, its hook, and the plans made so far."""

    def __init__(self, path: str, sites: "list[Any]", source: "_plan.Source", hook: "Any") -> None:
        self.path = path
        self.sites = sites
        self.source = source
        self.hook = hook
        self.plans: "dict[tuple[Any, ...], Any]" = {}

    def find_plan(self, code: CodeType) -> "Any":
        key = (
            code.co_name, code.co_firstlineno, code.co_code, _line_table(code),
            code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars,
        )  # fmt: skip
        if key not in self.plans:
            made = self.source.make_plan(code)
            self.plans[key] = None if made is None else _recorder.make_plan(self.hook, **made)
        return self.plans[key]


_sources: "dict[tuple[Any, ...], _Followed | None]" = {}  # the newest ones
_wishes: "dict[object, Callable[[str, str], Decision]]" = {}  # by their owners
_noted: "set[str]" = set()  # notes written since following began
_tracer: "_Tracer | _Monitor | None" = None


def begin(
    owner: object, frame: FrameType, is_followed: "Callable[[str, str], Decision]"
) -> None:
    """Follows `frame`, its callers, and all code called from now on. An owner may call it again."""
    _stop()
    _wishes[owner] = is_followed
    _noted.clear()
    try:
        _start(frame)
    except BaseException:
        del _wishes[owner]
        raise
    _join(frame)


def _start(frame: FrameType) -> None:
    """Decides again about all code, since the wishes have changed."""
    global _tracer
    _learn_layout()
    _recorder.follow_begin(_decide)
    try:
        tracer = _Monitor() if _HAS_MONITORING else _Tracer()
        tracer.begin(frame)
    except BaseException:
        _recorder.follow_end()
        raise
    _tracer = tracer


def _join(frame: FrameType) -> None:
    """Assigns to the frame the calls that it makes before its first own event."""
    try:
        followed = _find_followed(frame.f_code, frame.f_globals)
    except Exception as error:
        _note(f"{frame.f_code.co_filename}: is not followed: {error}")
        return
    if followed is not None:
        _recorder.join(followed.hook, frame)


def end(owner: object) -> None:
    """Ends the following of this owner, if any. After the last owner's end, trace functions and
    frames are restored."""
    if _wishes.pop(owner, None) is None:
        return
    _stop()
    if _wishes:
        _start(sys._getframe(1))


def _stop() -> None:
    global _tracer
    tracer = _tracer
    _tracer = None
    if tracer is not None:
        tracer.end(sys._getframe(0))
    _recorder.follow_end()


def is_followed(code: CodeType, module_globals: "dict[str, object]") -> bool:
    """Whether calls of this code are recorded now, though it is not instrumented."""
    return _tracer is not None and _find_followed(code, module_globals) is not None


def list_sites() -> "Iterator[tuple[str, Any]]":
    """The (source file, site) of all code that was followed recently."""
    for followed in list(_sources.values()):
        for site in () if followed is None else followed.sites:
            yield followed.path, site  # type: ignore[union-attr]


def list_notes() -> "list[str]":
    """Notes on code that could not be followed, with the reasons, since following last began."""
    return sorted(_noted)


def _learn_layout() -> None:
    value = object()
    _recorder.learn_layout(value)


def _note(text: str) -> None:
    if text not in _noted:
        _noted.add(text)
        _recorder.note(text.encode("utf-8", "replace").decode("utf-8"), True)


# The choice of code to follow


def _decide(code: CodeType, module_globals: "dict[str, object]") -> "Any":
    """A plan for the code object, or None. It runs in the middle of the program and never
    raises."""
    try:
        followed = _find_followed(code, module_globals)
        plan = None if followed is None else followed.find_plan(code)
        if _HAS_MONITORING and plan is not None:
            _Monitor.watch(code)
        return plan
    except Exception as error:
        _note(f"{code.co_filename}: {code.co_name} is not followed: {error}")
        return None


def _find_followed(code: CodeType, module_globals: "dict[str, object]") -> "_Followed | None":
    filename = code.co_filename
    name = module_globals.get("__name__")
    decision = _find_decision(filename, name if isinstance(name, str) else "")
    if not decision or module_globals is globals() or _is_instrumented(code, module_globals):
        return None
    lines = () if decision is True else tuple(decision)  # type: ignore[arg-type]
    followed = _find_source(filename, module_globals, lines)
    if followed is None or not _is_of_source(code, module_globals, followed.source):
        return None
    return followed


def _find_decision(filename: str, module: str) -> "Decision":
    """The decision of all owners. Each is called, so that it records which of its globs matched."""
    lines: "list[tuple[int, int]]" = []
    is_whole = False
    for is_followed in list(_wishes.values()):
        decision = is_followed(filename, module)
        if decision is True:
            is_whole = True
        elif decision is not False:
            lines.extend(decision)
    return is_whole or tuple(lines)


def _is_instrumented(code: CodeType, module_globals: "dict[str, object]") -> bool:
    """Whether the code records itself, or is in an instrumented file that leaves it out."""
    for entry in _registry.entries():
        if entry.is_of(module_globals) and (
            entry.prefix in code.co_names
            or (entry.is_whole and _source.path_of(entry.table) == code.co_filename)
        ):
            return True
    return False


def _find_source(
    filename: str, module_globals: "dict[str, object]", lines: "tuple[tuple[int, int], ...]"
) -> "_Followed | None":
    source = _source.read(filename, module_globals)
    if source is None:
        _note(f"{filename}: is not followed: its source is not to be found")
        return None
    name = module_globals.get("__name__")
    key = (filename, _name_source(filename), name, lines, hash(source))
    if key not in _sources:
        while len(_sources) >= _SOURCE_LIMIT:
            _sources.pop(next(iter(_sources)), None)
        _sources[key] = _make_followed(source, filename, name, lines)
    return _sources[key]


def _make_followed(
    source: bytes, filename: str, name: object, lines: "tuple[tuple[int, int], ...]"
) -> "_Followed | None":
    if _instrument.is_instrumented(source):
        return None
    path = _name_source(filename)
    try:
        if lines:
            result = _instrument.instrument(source, path, lines=lines)
        else:
            result = _instrument.instrument(source, path, all=True)
        sites = _instrument.sites(result.table)
        ready = _plan.Source(source, sites)
        hook = _recorder.make_hook(
            result.table, _clean(name if isinstance(name, str) else ""), _clean(filename),
            source, "original",
        )  # fmt: skip
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _note(f"{filename}: is not followed: {error}")
        return None
    return _Followed(path, sites, ready, hook)


def _name_source(filename: str) -> str:
    """The name under which a reader knows a source: a file's path, a notebook's `In [3]`."""
    if os.path.exists(filename):
        return filename
    from monitorch._notebook import display as _display

    return _display.name_cell(filename) or filename


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _line_table(code: CodeType) -> bytes:
    return code.co_linetable


def _is_of_source(
    code: CodeType, module_globals: "dict[str, object]", source: "_plan.Source"
) -> bool:
    """Whether the code was compiled from that text: a file may have changed since."""
    filename = code.co_filename
    if not _loaded.may_have_changed(filename) or source.has_code(code, module_globals):
        return True
    _note(f"{filename}: {code.co_name} is not followed: the file has changed since it was loaded")
    return False


# Python 3.12 and later


class _Monitor:
    """Follows by sys.monitoring, in all threads."""

    tool_id = -1
    codes: "list[Any]" = []  # weak references to code objects that have local events

    def begin(self, frame: FrameType) -> None:
        monitoring = sys.monitoring  # type: ignore[attr-defined]
        events = monitoring.events
        cls = type(self)
        for number in _TOOL_IDS:
            if monitoring.get_tool(number) is None:
                break
        else:
            raise RuntimeError(
                "code that was not instrumented cannot be followed: "
                "other tools use all of sys.monitoring"
            )
        monitoring.use_tool_id(number, _TOOL_NAME)
        cls.tool_id = number
        cls.codes = []
        self.settrace = sys.settrace
        _recorder.monitor_begin(monitoring.DISABLE, sys.settrace, monitoring.restart_events)
        sys.settrace = _recorder.monitor_settrace
        for event, function in self._functions(events):
            monitoring.register_callback(number, event, function)
        monitoring.set_events(number, events.PY_START | events.PY_RESUME)
        # Code that an earlier following refused is checked again.
        monitoring.restart_events()
        waiting = [*_callers(frame), *_running()]
        while waiting:
            _recorder.monitor_frame(waiting.pop())

    @staticmethod
    def _functions(events: "Any") -> "tuple[tuple[int, Any], ...]":
        return (
            (events.PY_START, _recorder.code_started),
            (events.PY_RESUME, _recorder.code_resumed),
            (events.INSTRUCTION, _recorder.code_stepped),
            (events.PY_RETURN, _recorder.code_returned),
        )

    @classmethod
    def watch(cls, code: CodeType) -> None:
        from weakref import ref

        monitoring = sys.monitoring  # type: ignore[attr-defined]
        events = monitoring.events
        wanted = events.INSTRUCTION | events.PY_RETURN | events.PY_START | events.PY_RESUME
        if cls.tool_id >= 0:
            cls.codes.append(ref(code))
            monitoring.set_local_events(cls.tool_id, code, wanted)

    def end(self, frame: FrameType) -> None:
        monitoring = sys.monitoring  # type: ignore[attr-defined]
        cls = type(self)
        number, cls.tool_id = cls.tool_id, -1
        if sys.settrace is _recorder.monitor_settrace:
            sys.settrace = self.settrace
        if number < 0 or monitoring.get_tool(number) != _TOOL_NAME:
            return
        monitoring.set_events(number, 0)
        for reference in cls.codes:
            code = reference()
            if code is not None:
                monitoring.set_local_events(number, code, 0)
        cls.codes = []
        for event, _ in self._functions(monitoring.events):
            monitoring.register_callback(number, event, None)
        monitoring.free_tool_id(number)


def _callers(frame: "FrameType | None") -> "Iterator[FrameType]":
    while frame is not None:
        yield frame
        frame = frame.f_back


def _running() -> "list[FrameType]":
    """The frames of all threads. No local variable may refer to the frame that holds it: such a
    cycle would keep the program's variables until it is collected."""
    frames: "list[FrameType]" = []
    current = sys._current_frames()
    while current:
        frame: "FrameType | None" = current.popitem()[1]
        if frame is not None and frame.f_code is _running.__code__:
            frame = frame.f_back
        frames.extend(_callers(frame))
    return frames


# Python 3.10 and 3.11


class _Tracer:
    """Follows by a trace function: in this thread, and in those that start later."""

    def begin(self, frame: FrameType) -> None:
        import threading

        self.settrace = sys.settrace
        self.others = threading.gettrace()
        _recorder.trace_begin(
            sys.settrace, sys.gettrace(), _recorder.trace_thread, self.others
        )
        sys.settrace = _recorder.settrace
        threading.settrace(_recorder.trace_thread)
        for running in _callers(frame):
            _recorder.trace_frame(running)

    def end(self, frame: FrameType) -> None:
        import threading

        # Another trace function may have been set in C, which Python code cannot see.
        before = _recorder.trace_calls()
        _be_called()
        is_installed = _recorder.trace_calls() != before
        if not is_installed:
            _note("following ended early: another trace function was set from C")
        if sys.settrace is _recorder.settrace:
            sys.settrace = self.settrace
        if threading.gettrace() is _recorder.trace_thread:
            threading.settrace(self.others)
        _recorder.follow_end()
        _recorder.trace_end(frame, is_installed)


def _be_called() -> None:
    pass
