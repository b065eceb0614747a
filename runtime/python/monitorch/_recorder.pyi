from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Literal, TypedDict

class Summary(TypedDict):
    path: str
    events: int
    lost: int
    stopped: str | None

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
) -> None: ...
def stop() -> Summary: ...
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
def guess(function: str, parameter: str, how: str) -> None: ...
def note(text: str, is_warning: bool = False) -> None: ...
def measure(
    value: object, *, sample: int = 64, stats: bool = True, hash: bool = True, threads: int = 1
) -> Measured | None: ...
def kernels() -> str: ...

# Following, see _follow.py and _plan.py.
class Plan: ...

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
