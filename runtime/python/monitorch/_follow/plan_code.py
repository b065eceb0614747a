"""The instructions of a code object, and the steps between them at which its sites are visited."""

import ast
import dis
import sys
from array import array
from types import CodeType

from monitorch._follow.plan_source import NO_SITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from monitorch._follow.plan_source import Statement

    Value = tuple[str | None, bytes | None, int]  # name of the root, dotted name, slot

HAS_COLUMNS = sys.version_info >= (3, 11)
STORES = {
    "STORE_NAME": ast.Name,
    "STORE_GLOBAL": ast.Name,
    "STORE_FAST": ast.Name,
    "STORE_DEREF": ast.Name,
    "STORE_FAST_LOAD_FAST": ast.Name,
    "STORE_FAST_STORE_FAST": ast.Name,
    "STORE_ATTR": ast.Attribute,
    "STORE_SUBSCR": ast.Subscript,
    "STORE_SLICE": ast.Subscript,
}
# Instructions that no instruction follows; the next one is reached by jumps only.
ENDS = {
    "RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD", "JUMP_ABSOLUTE",
    "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT",
}  # fmt: skip
JUMPS = {*dis.hasjrel, *dis.hasjabs}
OPTIMIZED = 1  # a flag of co_flags: a function, whose variables have slots


class Unit:
    """One instruction, with the prefixes that widen its argument."""

    __slots__ = ("start", "offset", "name", "value", "target", "position", "statement", "number")

    def __init__(self, start: int, instruction: "dis.Instruction", position: "Any") -> None:
        self.start = start
        self.offset = instruction.offset
        self.name = instruction.opname
        self.value = instruction.argval
        self.target = instruction.argval if instruction.opcode in JUMPS else None
        self.position = position
        self.statement: "Statement | None" = None
        self.number = 0


class Plan:
    """The steps between instructions at which the sites of a code object are visited."""

    def __init__(self, units: "list[Unit]") -> None:
        self.units = units
        self.following = dict(zip(units, units[1:]))
        self.flow = list(_find_flow(units))
        self.edges: "list[tuple[Unit, Unit, int]]" = []
        self.returns: "dict[Unit, int]" = {}

    def add(self, before: Unit, after: Unit, site: int) -> None:
        self.edges.append((before, after, site))

    def add_step(self, unit: Unit, site: int) -> None:
        after = self.following.get(unit)
        if after is not None:
            self.add(unit, after, site)

    def finish(
        self, enter: int, size: int, find_values: "Callable[[int], tuple[Value, ...]]"
    ) -> "dict[str, Any]":
        """Numbers the steps that matter: their ends, and all their possible starts."""
        arrived = {after for _, after, _ in self.edges}
        wanted = arrived | {before for before, after in self.flow if after in arrived}
        wanted.update(self.returns)
        visits: "dict[int, int]" = {}

        def visit(site: int) -> int:
            return NO_SITE if site == NO_SITE else visits.setdefault(site, len(visits))

        numbers = array("I", bytes(4 * size))
        returns = array("I", [NO_SITE])
        for number, unit in enumerate(sorted(wanted, key=lambda unit: unit.start), 1):
            unit.number = number
            for offset in range(unit.start, unit.offset + 2, 2):
                numbers[offset // 2] = number
            returns.append(visit(self.returns.get(unit, NO_SITE)))
        steps = array("I")
        for before, after, site in sorted(self.edges, key=lambda edge: edge[1].number):
            steps.extend((before.number, after.number, visit(site)))
        return {
            "enter": visit(enter),
            "numbers": numbers.tobytes(),
            "returns": returns.tobytes(),
            "steps": steps.tobytes(),
            "visits": tuple((site, find_values(site)) for site in visits),
        }


def _find_flow(units: "list[Unit]") -> "Iterator[tuple[Unit, Unit]]":
    """The instructions that may run after each one, exceptions not counted."""
    at = {offset: index for index, unit in enumerate(units)
          for offset in range(unit.start, unit.offset + 2, 2)}  # fmt: skip
    for index, unit in enumerate(units):
        if unit.name not in ENDS and index + 1 < len(units):
            yield unit, units[index + 1]
        target = at.get(unit.target) if unit.target is not None else None
        if target is None:
            continue
        yield unit, units[target]
        # At an iterator's end the jump skips its end instruction and the pop.
        while units[target].name in ("END_FOR", "POP_TOP") and target + 1 < len(units):
            target += 1
            yield unit, units[target]


def find_start(units: "list[Unit]") -> int:
    """The last offset at which a frame has not started yet."""
    for unit in units:
        if unit.name == "RESUME":
            return unit.offset
    return 0


def is_unbinding(index: int, units: "list[Unit]") -> bool:
    """Whether a store belongs to the end of `except … as name`, which has the position of the code
    before it."""
    if index == 0 or index + 1 == len(units):
        return False
    before, unit, after = units[index - 1 : index + 2]
    return (
        before.name == "LOAD_CONST"
        and before.value is None
        and after.name.startswith("DELETE_")
        and after.value == unit.value
        and before.position == unit.position == after.position
    )


def store_key(unit: Unit, kind: type) -> "tuple[Any, ...]":
    name = unit.value[0] if isinstance(unit.value, tuple) else unit.value
    name = None if kind is ast.Subscript else name
    if HAS_COLUMNS:
        return kind, name, (unit.position[1], unit.position[3])
    return kind, name, unit.position[0]


def compile_tree(tree: "Any", mode: str) -> CodeType:
    code = compile(tree, "<followed>", mode, dont_inherit=True)
    assert isinstance(code, CodeType)
    return code
