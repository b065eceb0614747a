"""Lines for Python 3.10, whose instructions have no columns: several statements may be on one
line."""

import ast
import dis
from types import CodeType

from monitorch._follow.plan_code import JUMPS, compile_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from monitorch._follow.plan_source import SourceTree, Statement

# The factor by which lines are spread for Python 3.10: the most statements that one line can have.
_SPREAD = 256


class SpreadLines:
    """A source whose lines are spread: each statement of a line has its own number."""

    def __init__(self, tree: "SourceTree") -> None:
        self.line_of: "dict[ast.AST, int]" = {}  # by the nodes of tree.tree
        self._statements = tree.statements
        self._by_line: "dict[int, int]" = {}  # a line -> its statement
        self._body: "list[Any]" = []
        self._pieces: "list[CodeType] | None" = None
        self._codes = self._compile_spread(tree)

    def find_statement(self, line: int) -> "Statement | None":
        at = self._by_line.get(line)
        return self._statements[at] if at is not None and at >= 0 else None

    def read_lines(self, code: CodeType) -> "list[Any]":
        """The code's lines, with an own number for each statement of a line.

        The source is compiled again with such lines. The result has the same instructions, except
        for the no-operations that exist for tracing.
        """
        wanted = _instructions(code)
        for other in self._find_alike(code):
            found = _instructions(other)
            if [part[1:3] for part in found] == [part[1:3] for part in wanted]:
                lines: "list[Any]" = [(None, None, None, None)] * (len(code.co_code) // 2)
                for (offset, *_), (_, _, _, line) in zip(wanted, found):
                    lines[offset // 2] = (line, line, None, None)
                self._place_fillers(code, lines)
                return lines
        lines = [(None, None, None, None)] * (len(code.co_code) // 2)
        for start, end, line in code.co_lines():
            if line is not None:
                for offset in range(start, end, 2):
                    lines[offset // 2] = (line * _SPREAD, line * _SPREAD, None, None)
        return lines

    def _find_alike(self, code: CodeType) -> "Iterator[CodeType]":
        """The corresponding code object of the spread source."""
        if code.co_name != "<module>" and not code.co_name.startswith("<cell line"):
            yield from self._codes.get((code.co_firstlineno, code.co_name), ())
            return
        yield from self._codes.get((1, "<module>"), ())
        if self._pieces is None:
            # A notebook's statements are compiled one by one.
            self._pieces = []
            for node in self._body:
                self._pieces.append(compile_tree(ast.Module([node], []), "exec"))
                self._pieces.append(compile_tree(ast.Interactive([node]), "single"))
        yield from self._pieces

    def _place_fillers(self, code: CodeType, lines: "list[Any]") -> None:
        """Gives lines to no-operations, which mark the start of `while True` or `try`."""
        starts: "dict[int, list[Statement]]" = {}
        for statement in self._statements:
            if isinstance(statement.node, (ast.While, ast.Try, ast.Pass)):
                starts.setdefault(statement.node.lineno, []).append(statement)
        for part in dis.get_instructions(code):
            if part.opname == "NOP" and part.starts_line is not None:
                there = starts.get(part.starts_line)
                if there:
                    line = self.line_of[there[0].node]
                    lines[part.offset // 2] = (line, line, None, None)

    def _compile_spread(self, tree: "SourceTree") -> "dict[tuple[int, str], list[CodeType]]":
        spread_tree = ast.parse(tree.source)
        on_lines: "dict[int, dict[int, int]]" = {}
        count = 0

        def spread(node: "Any", number: int) -> None:
            nonlocal count
            if isinstance(node, ast.stmt):
                number = count
                count += 1
            if hasattr(node, "lineno"):
                on_line = on_lines.setdefault(node.lineno, {})
                at = min(on_line.setdefault(number, len(on_line)), _SPREAD - 1)
                node.lineno = node.end_lineno = node.lineno * _SPREAD + at
                self._by_line.setdefault(node.lineno, number)
            for child in ast.iter_child_nodes(node):
                spread(child, number)

        spread(spread_tree, -1)
        for original, moved in zip(ast.walk(tree.tree), ast.walk(spread_tree)):
            if hasattr(original, "lineno"):
                self.line_of[original] = moved.lineno  # type: ignore[attr-defined]
        codes: "dict[tuple[int, str], list[CodeType]]" = {}
        self._body = spread_tree.body
        waiting = [compile_tree(spread_tree, "exec")]
        while waiting:
            code = waiting.pop()
            line = 1 if code.co_name == "<module>" else code.co_firstlineno // _SPREAD
            codes.setdefault((line, code.co_name), []).append(code)
            waiting.extend(part for part in code.co_consts if isinstance(part, CodeType))
        return codes


def _instructions(code: CodeType) -> "list[tuple[int, str, object, int | None]]":
    """The offset, name, argument and line of each instruction that is not for tracing only."""
    lines: "dict[int, int | None]" = {}
    for start, end, line in code.co_lines():
        for offset in range(start, end, 2):
            lines[offset] = line
    return [
        (
            part.offset,
            part.opname,
            None if part.opcode in JUMPS else _argument(part),
            lines.get(part.offset),
        )
        for part in dis.get_instructions(code)
        if part.opname not in ("NOP", "EXTENDED_ARG")
    ]


def _argument(part: "dis.Instruction") -> object:
    is_plain = isinstance(part.argval, (str, bytes, int, float, complex, type(None)))
    return (type(part.argval), part.argval) if is_plain else part.arg
