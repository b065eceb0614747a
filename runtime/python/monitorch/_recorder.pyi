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
def source_hash(source: bytes) -> str: ...
def event_count() -> int: ...
def flush() -> None: ...
def guess(function: str, parameter: str, how: str) -> None: ...
def note(text: str, is_warning: bool = False) -> None: ...
def measure(
    value: object, *, sample: int = 64, stats: bool = True, hash: bool = True, threads: int = 1
) -> Measured | None: ...
def kernels() -> str: ...
