from collections.abc import Callable, Iterable
from os import PathLike
from types import CodeType, FrameType
from typing import Any, Literal, TypedDict, TypeVar

_Text = TypeVar("_Text", bound=str)

class Summary(TypedDict):
    path: str
    events: int
    nan: int
    lost: int
    imports: int
    stopped: str | None
    left_out: int
    left_out_places: list[tuple[str, int, int]]

class _Described(TypedDict):
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: str
    layout: str
    type: str
    note: str
    requires_grad: bool
    version: int
    offset: int
    data: int
    flags: int
    is_readable: bool

# What is asked for, where the values can be read.
class Measured(_Described, total=False):
    count: int
    nan: int
    posinf: int
    neginf: int
    zeros: int
    min: float | int
    max: float | int
    mean: float
    std: float
    hash: int
    sample: list[Any]

def start(
    path: str,
    *,
    sample: int | tuple[int, int, int] = 64,
    last: int = 0,
    size_limit: int = 0,
    stats: bool = True,
    hash: bool = True,
    names: tuple[bytes, ...] = (),
    every: int = 1,
    max_elements: int = 0,
    one_thread: bool = False,
    quiet: bool = False,
    sources: bool = False,
    stop: int = 0,
    imports: bool = False,
    whole: bool = False,
    all_scalars: bool = False,
    origin: tuple[int, int, int] = (0, 0, 0),
    backward: bool = False,
    parameters: bool = False,
    last_steps: int = 0,
    change: Callable[[Any, int, int, int, str, bool, int | None], None] | None = None,
) -> None: ...
def begin_step(step: int, /) -> None: ...
def stop() -> Summary: ...
def remove_trace(path: str) -> bool: ...
def is_recording() -> bool: ...
def path() -> str | None: ...
def make_hook(
    table: str,
    module_name: str,
    file: str,
    source: bytes | None,
    source_kind: Literal["original", "instrumented", "other"],
) -> Any: ...
def join(hook: Any, frame: FrameType, /) -> None: ...
def source_hash(source: bytes) -> str: ...
def event_count() -> int: ...
def flush() -> None: ...
def note_empty() -> None: ...
def step_begins(optimizer: object, args: object, kwargs: object) -> None: ...
def step_ends(optimizer: object, args: object, kwargs: object) -> None: ...
def guess(function: str, parameter: str, how: str) -> None: ...
def note(text: str, is_warning: bool = False) -> None: ...
def write_setting(name: str, value: str) -> None: ...
def measure(
    value: object, *, sample: int = 64, stats: bool = True, hash: bool = True, threads: int = 1
) -> Measured | None: ...
def kernels() -> str: ...

# Watching, see _record/hooks.py and spy/_watch.py.
class Watcher: ...

def mute(is_muted: bool, /) -> None: ...
def make_watcher(
    names: tuple[bytes, ...], lines: tuple[tuple[bytes, int, int], ...]
) -> Watcher: ...
def set_watchers(
    pairs: tuple[tuple[Watcher | Tracing, Callable[..., None] | None], ...], /
) -> None: ...
def running_modules() -> list[tuple[Any, bool]]: ...
def match_glob(text: str, glob: str, /) -> bool: ...
def match_name(name: str, glob: str, /) -> bool: ...
def match_file(path: str, glob: str, /) -> bool: ...
def read_lines(text: str, /) -> tuple[str, int, int]: ...
def split_list(text: str, /) -> list[str]: ...
def nearest_names(word: str, names: Iterable[str], /) -> tuple[str, ...]: ...
def is_tensor(value: object, /) -> bool: ...
def is_nonfinite(tensor: object, wanted: int, /) -> Any: ...

# Saving tensors, see spy/saver.py.
_Key = tuple[str, str, str, int]  # prefix, module path, name, call
_Place = tuple[str, int, str]  # file, line, function

def save_pt(
    path: str | PathLike[str],
    tensor: object,
    key: _Key,
    *,
    may_replace: bool,
    norm_only: bool = False,
    place: _Place | None = None,
) -> Literal["written", "replaced", "exists"]: ...
def find_module_path(
    default: Callable[..., str] | None, saver: object, module: object, /
) -> str: ...
def make_full_name(
    kind: type[_Text],
    prefix: str,
    module_path: str,
    name: str,
    context: object = None,
    place: _Place | None = None,
    /,
) -> _Text: ...
def saved_file_stem(full_name: str, /) -> str: ...
def spy_save(name: object, tensor: object, module: object = None) -> None: ...
def spy_begin(get: Callable[[], tuple[Any, ...] | None], /) -> None: ...

class SafetensorsWriter:
    def __init__(self, path: str | PathLike[str]) -> None: ...
    @property
    def count(self) -> int: ...
    def add(
        self, tensor: object, key: _Key, place: _Place | None = None, norm_only: bool = False
    ) -> None: ...
    def finish(self) -> None: ...
    def abandon(self) -> None: ...

class TraceWriter:
    def __init__(self, path: str | PathLike[str]) -> None: ...
    @property
    def count(self) -> int: ...
    def add(
        self, tensor: object, key: _Key, place: _Place | None = None, norm_only: bool = False
    ) -> None: ...
    def finish(self) -> None: ...
    def abandon(self) -> None: ...

# Events from hooks, see _record/observe.py.
def make_place(
    path: str,
    file: str,
    module_name: str,
    function: str,
    line: int,
    sites: tuple[tuple[str, int, tuple[str, ...], tuple[str, ...]], ...],
    is_reported: bool = False,
    /,
) -> Any: ...
def observe(place: Any, site: int, path: str, module: object, /, *values: object) -> None: ...

class Observer:
    def __init__(
        self,
        place: Any,
        path: str,
        names: tuple[str, ...],
        defaults: tuple[object, ...],
        positional: int,
        rest: int,
        keywords: int,
    ) -> None: ...
    def enter(self, module: object, args: tuple[object, ...], kwargs: Any = ..., /) -> None: ...
    def leave(self, module: object, /, *arguments: object) -> None: ...

# Tracing, see tracer/.
_Waiting = tuple[int, int, str | None, bool, str | None]

class Tracing:
    def __new__(
        cls,
        root: object,
        paths: tuple[bytes, ...],
        mode: int,
        interval: int,
        gathering_interval: int,
        *,
        chunk: Callable[[int], tuple[object, int]],
        make: Callable[[Any, int, int, str, tuple[int, ...], tuple[int, ...] | None], object],
        keep: Callable[[str, Any], object],
        save: Callable[[str, Any, int], object] | None,
        compare: Callable[[Any, Any, int], Any],
        is_backward: Callable[[], bool],
    ) -> Tracing: ...
    def step(self, state: int, segment: str, /) -> int: ...
    def waiting(self, state: int, /) -> list[_Waiting]: ...
    @staticmethod
    def join(path: str, segment: str, /) -> str: ...
    def detach(self) -> dict[str, tuple[list[Any], list[int]]]: ...
    def seen(self) -> list[str]: ...
    def open(self, is_open: bool, /) -> None: ...
    @property
    def iteration(self) -> int: ...
    gather: Callable[[int], None] | None

class TracedMethod:
    def __new__(
        cls,
        tracing: Tracing,
        module: object,
        path: str,
        inner: Callable[..., Any],
        code: CodeType | None,
        state: int,
        reduction: tuple[Any, ...],
        is_output: bool,
        is_root: bool,
    ) -> TracedMethod: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    __wrapped__: Callable[..., Any]

class OutputHook:
    def __new__(cls, tracing: Tracing, path: str, /) -> OutputHook: ...
    def leave(self, module: object, args: object, output: object, /) -> None: ...
    def release(self) -> None: ...

# Metrics, see monitor/.
GAUGE_METRICS: tuple[str, ...]
GAUGE_EDGES: tuple[float, ...]

class Gauge:
    def __init__(
        self,
        keys: tuple[str, ...],
        metrics: tuple[str, ...],
        histogram: str | None = None,
        axis: int | None = None,
        threads: int = 1,
    ) -> None: ...
    def add(self, tensor: object, /) -> str | None: ...
    def collect(
        self, metrics: dict[str, float], histograms: dict[str, tuple[int, ...]], /
    ) -> bool: ...

class Switch:
    is_on: bool

class Probe:
    def __init__(
        self,
        switch: Switch,
        module: object,
        gauges: tuple[Gauge, ...],
        callback: Callable[[Any, Any, Any, Any], None] | None,
        unread: Callable[[Gauge, str, Any], None],
        task: Callable[[], int] | None,
    ) -> None: ...
    def leave(self, module: object, /, *arguments: object) -> None: ...

# Following, see _follow/follow.py and _follow/plan.py.
class Plan: ...

def find_slot(code: CodeType, name: str, /) -> int: ...
def make_plan(
    hook: Any,
    is_function: bool,
    start: int,
    enter: int,
    numbers: bytes,
    returns: bytes,
    steps: bytes,
    visits: tuple[tuple[int, tuple[tuple[str | None, bytes | None, int], ...]], ...],
) -> Plan: ...
def follow_begin(decide: Callable[[CodeType, dict[str, object]], Plan | None]) -> None: ...
def follow_end() -> None: ...
def learn_layout(value: object) -> None: ...
def trace_begin(settrace: Any, behind: Any, starter: Any, others: Any) -> None: ...
def trace_frame(frame: FrameType) -> bool: ...
def trace_end(frame: FrameType, is_installed: bool) -> None: ...
def trace_calls() -> int: ...
def trace_thread(frame: FrameType, event: str, arg: object) -> Any: ...
def settrace(function: Any) -> None: ...
def monitor_begin(disable: object, settrace: Any, restart_events: Any) -> None: ...
def monitor_settrace(function: Any) -> None: ...
def monitor_frame(frame: FrameType) -> None: ...
def code_started(code: CodeType, offset: int) -> object: ...
def code_resumed(code: CodeType, offset: int) -> object: ...
def code_stepped(code: CodeType, offset: int) -> object: ...
def code_returned(code: CodeType, offset: int, value: object) -> object: ...

# Tracked calls, see tracker/.
class TrackedCalls: ...
class TrackedCall: ...

def track_setup(
    deliver: Callable[[str], None] | None,
    own_folder: str,
    folder: bytes,
    labels: str,
    canonical: bool,
    /,
) -> None: ...
def track_start() -> bool: ...
def track_stop() -> None: ...
def track_register(
    code: CodeType,
    *,
    names: str = "",
    calls: bool = False,
    lines: bool = False,
    stack: bool = False,
    bare: bool = False,
    depth: int = 0,
    when: str = "",
    labels: str = "",
) -> TrackedCalls: ...
def track_begin(calls: TrackedCalls, /) -> TrackedCall | None: ...
def track_end(call: TrackedCall, error: BaseException | None, /) -> None: ...
def track_text(text: str, for_file_alone: bool, /) -> None: ...
def track_path() -> bytes: ...
def track_labels(pairs: tuple[tuple[str, str], ...], /) -> str: ...
def track_value(prefix: str, name: str, value: object, indent: str, line: str, /) -> str: ...
