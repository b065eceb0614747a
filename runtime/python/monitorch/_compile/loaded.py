"""Loaded code and the file that it was compiled from: whether the two still match.

A file may be written while the program runs; then positions in its text are wrong for the code. And
pytest compiles test modules itself, with other assert statements in them.
"""

import ast
import os
import time
import warnings
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# The kernel stamps files with the time of its last tick, and counts the start of processes in
# ticks.
_CLOCK_DIFFERENCE = 0.1  # the name of _pytest.assertion.rewrite in such modules
_REWRITER = "@pytest_ar"  # the name of _pytest.assertion.rewrite in a module with rewritten assertions


def may_have_changed(filename: str) -> bool:
    """Whether the file may have been written after this process began. If so, compare the
    contents."""
    try:
        return os.stat(filename).st_mtime > _started - _CLOCK_DIFFERENCE
    except OSError:
        return False


def compile_source(source: bytes, module_globals: "dict[str, object]") -> "Iterator[CodeType]":
    """Every code object that the module's source can have been compiled to: plain, and with the
    assertions that pytest rewrites."""
    yield _compile(source)
    # pytest's code imports under this name, which the program's code cannot see.
    rewrite: "Any" = getattr(module_globals.get(_REWRITER), "rewrite_asserts", None)
    if rewrite is None:
        return
    tree = ast.parse(source)
    config = getattr(module_globals.get("__loader__"), "config", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pytest has warned of these assertions already
            rewrite(tree, source, str(module_globals.get("__file__")), config)
    except Exception:
        return  # another version of pytest with other internals
    yield _compile(tree)


def _compile(source: "Any") -> CodeType:
    code = compile(source, "<loaded>", "exec", dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def list_codes(code: CodeType) -> "Iterator[CodeType]":
    """The code object and all code objects inside it."""
    waiting = [code]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(value for value in part.co_consts if isinstance(value, CodeType))


def identify(code: CodeType) -> "tuple[object, ...]":
    """A key that is equal for code objects compiled from the same text at the same position."""
    constants = tuple(_name_constant(value) for value in code.co_consts)
    return (
        code.co_name, code.co_firstlineno, code.co_code, code.co_linetable, code.co_names,
        code.co_varnames, code.co_cellvars, code.co_freevars, constants,
    )  # fmt: skip


def _name_constant(value: object) -> "tuple[object, ...]":
    """A key that is equal for equal constants. 1 and True differ, and sets have no order."""
    if isinstance(value, CodeType):
        return (CodeType,)
    if isinstance(value, tuple):
        return tuple, *map(_name_constant, value)
    if isinstance(value, frozenset):
        return frozenset, *sorted(map(repr, value))
    return type(value), repr(value)


def _find_start() -> float:
    """The time at which this process began, or at the latest when this module was loaded, in
    seconds of the epoch."""
    now = time.time()
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/uptime", "rb") as file:
            uptime = float(file.read().split()[0])
        return now - uptime + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return now


_started = _find_start()
