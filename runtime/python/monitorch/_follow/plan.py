"""The positions of a source's sites in the bytecode that was compiled from it.

A plan states, for one code object, between which two instructions a site is visited: after the last
store of an assignment, on the step from a loop's header into its body, at a return. The compiler's
table lists the sites; Python's own parser finds the statements at their positions; the positions in
the code object assign the instructions to statements.
"""

import ast
import dis
import sys
from types import CodeType

from monitorch import _recorder
from monitorch._compile import loaded as _loaded
from monitorch._follow.plan_code import (
    ENDS,
    HAS_COLUMNS,
    OPTIMIZED,
    STORES,
    Plan,
    Unit,
    find_start,
    is_unbinding,
    store_key,
)
from monitorch._follow.plan_lines import SpreadLines
from monitorch._follow.plan_source import (
    NO_SITE,
    Arm,
    Function,
    SourceTree,
    Statement,
    Store,
    end_of,
    start_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from monitorch._follow.plan_code import Value
    from monitorch._follow.plan_source import Position
    from monitorch._instrument import Site

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")


class Source:
    """A source with its sites, ready for the code objects that were compiled from it."""

    def __init__(self, source: bytes, sites: "list[Site]") -> None:
        self._tree = SourceTree(source, sites)
        self._spread = None if HAS_COLUMNS else SpreadLines(self._tree)
        self._early: "set[int]" = set()  # returns recorded before blocks are left
        self._codes: "set[tuple[object, ...]] | None" = None

    def find_functions(self, code: CodeType) -> "list[Function]":
        name = code.co_name
        if name == "<module>" or name.startswith("<cell line"):  # as IPython names them
            functions = self._tree.functions[1, "<module>"]
        else:
            functions = self._tree.functions.get((code.co_firstlineno, name), [])
        return [function for function in functions if function.is_wanted]

    def has_code(self, code: CodeType, module_globals: "dict[str, object]") -> bool:
        """Whether this source compiles to the code object in such a module."""
        if self._codes is None:
            self._codes = {
                _loaded.identify(part)
                for whole in _loaded.compile_source(self._tree.source, module_globals)
                for part in _loaded.list_codes(whole)
            }
        return _loaded.identify(code) in self._codes

    def make_plan(self, code: CodeType) -> "dict[str, Any] | None":
        """The arguments of `_recorder.make_plan`; None if nothing is to be recorded in `code`."""
        functions = self.find_functions(code)
        if not functions:
            return None
        units = self._read_units(code)
        plan = Plan(units)
        for function in functions:
            self._place_stores(function, units, plan)
            self._place_calls(function, units, plan)
            self._place_arms(function, plan)
            self._place_returns(function, units, plan)
        enter = functions[0].enter
        if not plan.edges and not plan.returns and enter == NO_SITE:
            return None
        size = len(code.co_code) // 2
        return {
            "is_function": bool(code.co_flags & OPTIMIZED),
            "start": find_start(units),
            **plan.finish(enter, size, lambda site: self._find_values(site, code)),
        }

    def _read_units(self, code: CodeType) -> "list[Unit]":
        positions: "list[Any]"
        if sys.version_info >= (3, 11):
            positions = list(code.co_positions())
        else:
            assert self._spread is not None
            positions = self._spread.read_lines(code)
        units = []
        start = None
        for instruction in dis.get_instructions(code):
            if start is None:
                start = getattr(instruction, "start_offset", instruction.offset)
            if instruction.opname in ("EXTENDED_ARG", "CACHE"):
                continue
            units.append(Unit(start, instruction, positions[instruction.offset // 2]))
            start = None
        previous = None
        for unit in units:
            # Instructions that the compiler added for itself belong to the statement before them.
            found = self._find_statement(unit.position)
            unit.statement = previous = found if found is not None else previous
            if unit.name in ENDS:
                previous = None
        return units

    def _find_statement(self, position: "Any") -> "Statement | None":
        """The innermost statement around a position."""
        line, end_line, column, end_column = position
        if line is None:
            return None
        if column is None:
            return None if self._spread is None else self._spread.find_statement(line)
        statement = self._tree.find_statement((line, column))
        while statement is not None and end_of(statement.node) < (end_line, end_column):
            statement = statement.parent
        return statement

    # Visits and their instructions

    def _place_stores(self, function: Function, units: "list[Unit]", plan: "Plan") -> None:
        found: "dict[tuple[Any, ...], list[int]]" = {}
        for index, unit in enumerate(units):
            kind = STORES.get(unit.name)
            if kind is not None and not is_unbinding(index, units):
                found.setdefault(store_key(unit, kind), []).append(index)
        asked: "dict[tuple[Any, ...], list[tuple[Store, Any]]]" = {}
        for store in function.stores:
            for leaf in store.leaves[-1:] if HAS_COLUMNS else store.leaves:
                asked.setdefault(self._leaf_key(leaf), []).append((store, leaf))
        for key, stores in asked.items():
            places = found.get(key, [])
            for number, index in enumerate(places):
                # Without columns: in the order of the text, and again from the start for code that
                # the compiler doubled.
                wanted = stores if HAS_COLUMNS else [stores[number % len(stores)]]
                for store, leaf in wanted:
                    if leaf is store.leaves[-1]:
                        self._place_store(store, index, units, plan)
            if not places and key[0] is ast.Name:
                self._place_double([store for store, _ in stores], units, plan)

    def _place_store(
        self, store: "Store", index: int, units: "list[Unit]", plan: "Plan"
    ) -> None:
        """Finds the store of a target's last part; the compiler may have moved other stores after
        it."""
        if len(store.leaves) > 1:
            keys = {self._leaf_key(leaf) for leaf in store.leaves}
            while index + 1 < len(units):
                kind = STORES.get(units[index + 1].name)
                if kind is None or store_key(units[index + 1], kind) not in keys:
                    break
                index += 1
        plan.add_step(units[index], store.site)

    def _place_double(
        self, stores: "list[Store]", units: "list[Unit]", plan: "Plan"
    ) -> None:
        """Handles the second name of an instruction that stores two: it has the first one's
        position."""
        for store in stores:
            leaf = store.leaves[-1]
            for unit in units:
                if unit.name == "STORE_FAST_STORE_FAST" and (
                    unit.position[0] == leaf.lineno and unit.value[1] == leaf.id
                ):
                    plan.add_step(unit, store.site)

    def _leaf_key(self, leaf: "Any") -> "tuple[Any, ...]":
        name = getattr(leaf, "id", getattr(leaf, "attr", None))
        if name is not None and name.startswith("__"):
            name = self._find_private(start_of(leaf), name)
        if self._spread is None:
            return type(leaf), name, end_of(leaf)
        return type(leaf), name, self._spread.line_of.get(leaf)

    def _place_calls(self, function: Function, units: "list[Unit]", plan: "Plan") -> None:
        asked = {statement.number: site for statement, site in function.calls}
        for before, unit in zip(units, units[1:]):
            statement = unit.statement
            if unit.name not in ("POP_TOP", "PRINT_EXPR"):
                continue
            if statement is None or statement.number not in asked:
                continue
            if before.statement is not statement:
                continue
            if HAS_COLUMNS:
                value = statement.node.value
                line, end_line, *columns = before.position
                whole = (line, columns[0]), (end_line, columns[1])
                is_end = whole == (start_of(value), end_of(value))
            else:
                is_end = before.name.startswith("CALL") or before.name == "YIELD_FROM"
            if is_end:
                plan.add_step(unit, asked[statement.number])

    def _place_arms(self, function: Function, plan: "Plan") -> None:
        for arm in function.arms:
            whole = arm.statement
            end = self._find_entry(arm)
            for before, after in plan.flow:
                there = after.statement
                here = before.statement
                if there is None or not arm.first <= there.number <= end or here is None:
                    continue
                if arm.first <= here.number <= arm.last:
                    is_entry = (
                        arm.is_endless
                        and before.offset > after.offset
                        and _loop_of(here) is whole
                    )
                else:
                    is_entry = whole.number <= here.number <= whole.end
                if is_entry:
                    plan.add(before, after, arm.site)

    def _find_entry(self, arm: Arm) -> int:
        """The last statement to which a block's first instruction may belong."""
        number = arm.first
        while number < arm.last and _has_no_start(self._tree.statements[number].node):
            number += 1
        return number

    def _place_returns(self, function: Function, units: "list[Unit]", plan: "Plan") -> None:
        for index, unit in enumerate(units):
            if unit.name not in _RETURNS:
                continue
            at = self._find_returning(index, units)
            statement = self._find_return(units[at], function) if at is not None else None
            if at is None or statement is None or statement.number not in function.returns:
                continue
            site = function.returns[statement.number]
            value = statement.node.value
            if at < index and (value is None or isinstance(value, (ast.Name, ast.Constant))):
                # The return is recorded before the blocks are left, as in instrumented code.
                self._early.add(site)
                plan.add_step(units[at], site)
            else:
                plan.returns[unit] = site

    @staticmethod
    def _find_returning(index: int, units: "list[Unit]") -> "int | None":
        """The index of the statement of a return: before the code that leaves `with` and `try`."""
        at = index
        while _is_way_out(units[at].statement) and units[at].name != "STORE_FAST_LOAD_FAST":
            at -= 1
            if at < 0 or units[at].name in ENDS:
                return None
        return at

    @staticmethod
    def _find_return(unit: Unit, function: Function) -> "Statement | None":
        statement = unit.statement
        if unit.name == "STORE_FAST_LOAD_FAST" and not _is_return(statement):
            # The value of a return on the same line is loaded with it.
            for statement in function.statements:
                node = statement.node
                if _is_return(statement) and node.lineno == unit.position[0]:
                    if isinstance(node.value, ast.Name) and node.value.id == unit.value[1]:
                        return statement
            return None
        return statement if _is_return(statement) else None

    # The values of a visit

    def _find_values(self, site: int, code: CodeType) -> "tuple[Value, ...]":
        """The way to find each value of a visit: `(root, dotted name, slot)`."""
        record = self._tree.sites[site]
        values: "list[Value]" = []
        for written, how in record["writes"]:
            name = written
            if "__" in name:
                name = self._find_private(self._tree.position_of(record), name)
            if how == "none":
                continue
            if record["kind"] == "return" and site not in self._early:
                values.append((None, None, -1))
                continue
            if record["kind"] == "return":
                name = self._find_returned(record)
            root = name.partition(".")[0]
            dotted = name.encode("utf-8", "replace") if how == "value" and root != name else None
            if dotted is not None and written in self._tree.plain_values.get(site, {}):
                root, dotted = self._tree.plain_values[site][written], None
            values.append((root, dotted, _recorder.find_slot(code, root)))
        return tuple(values)

    def _find_returned(self, site: "Site") -> str:
        """The name that an early return returns."""
        statement = self._tree.find_statement(self._tree.position_of(site))
        value = None if statement is None else statement.node.value
        return value.id if isinstance(value, ast.Name) else ""

    def _find_private(self, position: "Position", name: str) -> str:
        """A dotted name as Python stores it: a class's `__x` is `_Class__x`."""
        statement = self._tree.find_statement(position)
        while statement is not None and not isinstance(statement.node, ast.ClassDef):
            statement = statement.parent
        owner = statement.node.name.lstrip("_") if statement is not None else ""
        parts = [
            f"_{owner}{part}" if part.startswith("__") and not part.endswith("__") else part
            for part in name.split(".")
        ]
        return ".".join(parts) if owner else name


def _is_way_out(statement: "Statement | None") -> bool:
    return statement is None or (
        not isinstance(statement.node, ast.Return)
        and (statement.is_final or isinstance(statement.node, (ast.With, ast.AsyncWith, ast.Try)))
    )


def _has_no_start(node: "Any") -> bool:
    """Whether a statement may have no instruction of its own at its start."""
    return (
        isinstance(node, (ast.Try, ast.Pass, ast.Global, ast.Nonlocal))
        or (isinstance(node, ast.While) and isinstance(node.test, ast.Constant))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.AnnAssign) and node.value is None)
    )


def _is_return(statement: "Statement | None") -> bool:
    return statement is not None and isinstance(statement.node, ast.Return)


def _loop_of(statement: "Statement | None") -> "Statement | None":
    while statement is not None and not isinstance(statement.node, _LOOPS):
        statement = statement.parent
    return statement
