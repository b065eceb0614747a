"""Instrumentation of test modules, which pytest compiles itself to rewrite their assertions.

pytest gets the tree of the instrumented source with the original's assert statements, so that its
messages are the same. The code that it compiles gets the original's positions. Its own cached
bytecode is neither read nor written for such a module.
"""

import ast
from weakref import WeakSet

from monitorch import _instrument
from monitorch._compile import import_hook as _import_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


def change(rewrite: "Any") -> None:
    """Changes the module _pytest.assertion.rewrite, so that it uses this code for selected
    modules."""
    names = ("_rewrite_test", "_read_pyc", "_write_pyc", "rewrite_asserts")
    missing = [name for name in names if not hasattr(rewrite, name)]
    if missing:
        raise AttributeError(
            f"this pytest has no {', '.join(missing)}: test modules and conftest.py are not "
            "recorded, the modules that they import are"
        )
    rewrite_test, read_pyc, write_pyc = (getattr(rewrite, name) for name in names[:3])
    made: "WeakSet[CodeType]" = WeakSet()

    def rewrite_instrumented(path: "Any", config: "Any") -> "Any":
        __tracebackhide__ = True
        code = _compile(rewrite, path, config)
        if code is None:
            return rewrite_test(path, config)
        made.add(code)
        return None, code  # the first item describes the file, only for the cache

    def read_none_of_instrumented(source: "Any", pyc: "Any", *rest: "Any") -> "Any":
        hook = _import_hook.get()
        if hook is not None and hook.selected.has(_name_of(source), str(source)):
            return None
        return read_pyc(source, pyc, *rest)

    def write_none_of_instrumented(state: "Any", code: "Any", *rest: "Any") -> "Any":
        return False if code in made else write_pyc(state, code, *rest)

    rewrite._rewrite_test = rewrite_instrumented
    rewrite._read_pyc = read_none_of_instrumented
    rewrite._write_pyc = write_none_of_instrumented


def _name_of(path: "Any") -> str:
    """The module's name: pytest does not pass on the name under which it loads a file."""
    return str(path.stem)


def _compile(rewrite: "Any", path: "Any", config: "Any") -> "CodeType | None":
    hook = _import_hook.get()
    if hook is None or not hook.selected.has(_name_of(path), str(path)):
        return None
    try:
        source = path.read_bytes()
        original = ast.parse(source, filename=str(path))
        result = hook.instrument(_name_of(path), source, str(path))
        if result is None or not result.is_changed:
            return None
        tree = ast.parse(result.text, filename=str(path))
        _restore_assertions(tree, original, source, result)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None  # pytest itself reports the error
    rewrite.rewrite_asserts(tree, source, str(path), config)
    code: "CodeType" = compile(tree, str(path), "exec", dont_inherit=True)
    return _instrument.map_positions(code, source, result)


def _restore_assertions(
    tree: ast.Module, original: ast.Module, source: bytes, result: "_instrument.Result"
) -> None:
    """Restores the original's conditions and messages in the assert statements."""
    wanted = _find_assertions(original)
    found = _find_assertions(tree)
    if len(wanted) != len(found):
        raise ValueError("the assert statements of the instrumented source are others")
    insertions = None
    for before, after in zip(wanted, found):
        if ast.dump(before) == ast.dump(after):
            continue
        if insertions is None:
            insertions = _find_insertions(source, result)
        for node in ast.walk(before):
            if isinstance(node, (ast.expr, ast.keyword)):
                _move(node, insertions)
        after.test, after.msg = before.test, before.msg


def _find_assertions(tree: ast.Module) -> "list[ast.Assert]":
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _find_insertions(source: bytes, result: "_instrument.Result") -> "list[tuple[int, int, int]]":
    """The inserted texts, as (line, column in the original, size), all in bytes of UTF-8."""
    import io
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    text = source.decode(encoding).encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    at = 0
    for offset, inserted, _, _ in result.insertions:
        while at + 1 < len(starts) and starts[at + 1] <= offset:
            at += 1
        found.append((at + 1, offset - starts[at], len(inserted)))
    return found


def _move(node: "Any", insertions: "list[tuple[int, int, int]]") -> None:
    """Maps positions of the original to positions in the instrumented text."""
    node.col_offset = _column(node.lineno, node.col_offset, insertions, True)
    node.end_col_offset = _column(node.end_lineno, node.end_col_offset, insertions, False)


def _column(
    line: int, column: int, insertions: "list[tuple[int, int, int]]", is_start: bool
) -> int:
    """The column in the instrumented text. A text inserted directly before a node moves its start;
    one directly after it does not."""
    return column + sum(
        size
        for at_line, at, size in insertions
        if at_line == line and (at < column or is_start and at == column)
    )
