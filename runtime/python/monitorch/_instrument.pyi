import os
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, Literal, TypedDict

from typing_extensions import Buffer

__version__: str

class InstrumentError(ValueError):
    path: str | None
    line: int | None
    column: int | None

class Result:
    @property
    def text(self) -> bytes: ...
    @property
    def table(self) -> str: ...
    @property
    def notes(self) -> list[tuple[Literal["warning", "remark"], int, int, str]]: ...
    @property
    def insertions(self) -> tuple[tuple[int, bytes, int, int], ...]: ...
    @property
    def function_count(self) -> int: ...
    @property
    def selected_count(self) -> int: ...
    @property
    def skipped_count(self) -> int: ...
    @property
    def is_changed(self) -> bool: ...

class Site(TypedDict):
    id: int
    kind: Literal["enter", "assign", "mutate", "loop", "branch", "return", "spy", "line"]
    line: int
    column: int
    function: str
    function_line: int
    ordinal: int
    arm: int | None
    condition: str | None
    repeats: bool
    writes: list[tuple[str, Literal["value", "peek", "none"]]]
    reads: list[tuple[str, Literal["local", "free", "global"], int | None]]
    key: str

def instrument(
    source: str | Buffer,
    path: str | bytes | os.PathLike[Any] = "<string>",
    *,
    all: bool = False,
    forward: bool | None = None,
    functions: Iterable[str] = (),
    lines: Iterable[int | tuple[int, int]] = (),
    spy: Iterable[str] = (),
    every_line: bool = False,
) -> Result: ...
def compile_source(
    source: str | Buffer,
    filename: str | bytes | os.PathLike[Any],
    *,
    all: bool = False,
    forward: bool | None = None,
    functions: Iterable[str] = (),
    lines: Iterable[int | tuple[int, int]] = (),
    spy: Iterable[str] = (),
    prefix: str | None = None,
    optimize: int = -1,
    flags: int = 0,
    every_line: bool = False,
) -> tuple[CodeType, Result]: ...
def map_positions(code: CodeType, source: str | Buffer, result: Result) -> CodeType: ...
def make_program(
    function: Callable[..., object] | None,
    arguments: tuple[Any, ...],
    end: Callable[[], object],
    hook: object,
    /,
) -> Callable[..., None]: ...
def strip(
    text: str | Buffer, path: str | bytes | os.PathLike[Any] = "<string>"
) -> bytes: ...
def is_instrumented(text: str | Buffer) -> bool: ...
def sites(text: str | Buffer) -> list[Site]: ...
def run_help() -> str: ...
def run_options() -> list[tuple[str, str, str | None]]: ...
