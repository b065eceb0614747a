"""Where the sites of a source lie in the bytecode of what was compiled from it.

A plan tells, for one code object, between which two instructions a site is visited: after the
last store of an assignment, on the step from a loop's header into its body, at a return. The
compiler's table says which sites there are; Python's own parser says what stands there; the
positions in the code object say which instructions belong to it.
"""

import ast
import dis
import re
import sys
from array import array
from bisect import bisect_right
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from monitorch._instrument import Site

    Position = tuple[int, int]
    Value = tuple[str | None, bytes | None, int]  # name of the root, dotted name, slot

NO_SITE = 0xFFFFFFFF
_HAS_COLUMNS = sys.version_info >= (3, 11)
_LINE_END = re.compile(rb"\r\n|\r|\n")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_STORES = {
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
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")
# What nothing follows: the instruction after it is reached by jumps alone.
_ENDS = {
    "RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD", "JUMP_ABSOLUTE",
    "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT",
}  # fmt: skip
_JUMPS = {*dis.hasjrel, *dis.hasjabs}
# Lines are spread for Python 3.10, which has no columns: so many statements may share one.
_SPREAD = 256
_OPTIMIZED = 1  # of co_flags: a function, whose variables have slots


class _Statement:
    """One statement of the source, in the order of the text."""

    __slots__ = ("node", "number", "end", "parent", "is_final")

    def __init__(self, node: "Any", number: int, parent: "_Statement | None") -> None:
        self.node = node
        self.number = number
        self.end = number  # the last statement inside it
        self.parent = parent
        self.is_final: bool = parent is not None and (
            parent.is_final or node in getattr(parent.node, "finalbody", ())
        )


class _Arm:
    """A block that begins with a visit: a branch that was taken, or the turn of a `while`."""

    __slots__ = ("statement", "first", "last", "site", "is_endless")

    def __init__(
        self, statement: _Statement, first: int, last: int, site: int, is_endless: bool = False
    ) -> None:
        self.statement = statement
        self.first = first  # numbers of the statements in it
        self.last = last
        self.site = site
        self.is_endless = is_endless


class _Store:
    """An assignment: the parts of its targets in their order."""

    __slots__ = ("leaves", "site")

    def __init__(self, leaves: "list[Any]", site: int) -> None:
        self.leaves = leaves
        self.site = site


class _Function:
    """What one function of the source, or its module level, has to be followed for."""

    def __init__(self, node: "Any") -> None:
        self.node = node
        self.enter = NO_SITE
        self.stores: "list[_Store]" = []
        self.calls: "list[tuple[_Statement, int]]" = []  # expression statements
        self.arms: "list[_Arm]" = []
        self.returns: "dict[int, int]" = {}  # number of the statement -> site
        self.statements: "list[_Statement]" = []
        self.is_wanted = False


class _Unit:
    """One instruction, with the prefixes that widen its argument."""

    __slots__ = ("start", "offset", "name", "value", "target", "position", "statement", "number")

    def __init__(self, start: int, instruction: "dis.Instruction", position: "Any") -> None:
        self.start = start
        self.offset = instruction.offset
        self.name = instruction.opname
        self.value = instruction.argval
        self.target = instruction.argval if instruction.opcode in _JUMPS else None
        self.position = position
        self.statement: "_Statement | None" = None
        self.number = 0


class Source:
    """A source with its sites, ready for the code objects that were compiled from it."""

    def __init__(self, source: bytes, sites: "list[Site]") -> None:
        self.source = source
        self.sites = sites
        self.tree = ast.parse(source)
        self._lines: "list[bytes]" = _LINE_END.split(_as_utf8(source))
        self._statements: "list[_Statement]" = []
        self._starts: "list[Position]" = []
        self._site_at: "dict[tuple[str, Position], list[Site]]" = {}
        self._branches: "list[tuple[Position, int]]" = []
        self._functions: "dict[tuple[int, str], list[_Function]]" = {}
        self._spread: "dict[tuple[int, str], list[CodeType]]" = {}
        self._early: "set[int]" = set()  # returns that are told before what is left
        self._codes: "set[tuple[object, ...]] | None" = None
        self._spread_body: "list[Any]" = []
        self._pieces: "list[CodeType] | None" = None
        self._by_line: "dict[int, int]" = {}  # Python 3.10: a line -> its statement
        self._line_of: "dict[ast.AST, int]" = {}  # the same: a node -> its line
        self._plain_values: "dict[int, dict[str, str]]" = {}  # site -> target -> name assigned
        for site in sites:
            position = (site["line"], self._byte_column(site["line"], site["column"]))
            self._site_at.setdefault((site["kind"], position), []).append(site)
            if site["kind"] == "branch":
                self._branches.append((position, site["id"]))
        self._branches.sort()
        module = _Function(self.tree)
        self._functions[1, "<module>"] = [module]
        self._visit_block(self.tree.body, module, None)
        self._starts = [_start(statement.node) for statement in self._statements]
        if not _HAS_COLUMNS:
            self._spread = self._compile_spread()
        for functions in self._functions.values():
            for function in functions:
                function.is_wanted = bool(
                    function.enter != NO_SITE or function.stores or function.calls
                    or function.arms or function.returns
                )  # fmt: skip

    def _byte_column(self, line: int, column: int) -> int:
        if line > len(self._lines):
            return column - 1
        text = self._lines[line - 1]
        if line == 1 and text.startswith(b"\xef\xbb\xbf"):
            text = text[3:]
        if text.isascii():
            return column - 1
        return len(text.decode("utf-8", "replace")[: column - 1].encode("utf-8"))

    # What the source asks for

    def _find(self, kind: str, node: "Any") -> int:
        sites = self._site_at.get((kind, _start(node)))
        return sites[0]["id"] if sites else NO_SITE

    def _find_branch(self, after: "Position", before: "Position") -> int:
        """The branch site of an arm whose header stands between the two."""
        at = bisect_right(self._branches, (before, NO_SITE)) - 1
        if at >= 0 and self._branches[at][0] >= after:
            return self._branches[at][1]
        return NO_SITE

    def _visit_block(
        self, block: "list[Any]", function: _Function, parent: "_Statement | None"
    ) -> "tuple[int, int]":
        first = len(self._statements)
        for node in block:
            self._visit_statement(node, function, parent)
        return first, len(self._statements) - 1

    def _visit_statement(
        self, node: "Any", function: _Function, parent: "_Statement | None"
    ) -> None:
        statement = _Statement(node, len(self._statements), parent)
        self._statements.append(statement)
        function.statements.append(statement)
        self._visit_expressions(node, function)
        if isinstance(node, _FUNCTIONS):
            self._visit_function(node, statement)
        elif isinstance(node, ast.ClassDef):
            # Nothing is recorded in a class's body but the functions in it.
            self._visit_block(node.body, _Function(node), statement)
        else:
            self._visit_plain(node, function, statement)
            self._visit_blocks(node, function, statement)
        statement.end = len(self._statements) - 1

    def _visit_function(self, node: "Any", statement: _Statement) -> None:
        function = _Function(node)
        function.enter = self._find("enter", node)
        line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        self._functions.setdefault((line, node.name), []).append(function)
        self._visit_block(node.body, function, statement)

    def _visit_expressions(self, node: "Any", function: _Function) -> None:
        for expression in _expressions(node):
            if isinstance(expression, ast.NamedExpr):
                site = self._find("assign", expression)
                if site != NO_SITE:
                    function.stores.append(_Store([expression.target], site))

    def _visit_plain(self, node: "Any", function: _Function, statement: _Statement) -> None:
        """What the statement itself stores, without the blocks inside it."""
        targets: "list[Any]" = []
        kinds: "tuple[str, ...]" = ("assign", "mutate")
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            targets, kinds = [node.target], ("loop",)
        elif isinstance(node, (ast.With, ast.AsyncWith)) and node.items[-1].optional_vars:
            targets = [item.optional_vars for item in node.items if item.optional_vars]
        elif isinstance(node, ast.Return):
            site = self._find("return", node)
            if site != NO_SITE:
                function.returns[statement.number] = site
        elif isinstance(node, ast.Expr):
            site = self._find("mutate", node)
            if site != NO_SITE:
                function.calls.append((statement, site))
        leaves = [leaf for target in targets for leaf in _leaves(target)]
        for kind in kinds if leaves else ():
            site = self._find(kind, node)
            if site != NO_SITE:
                function.stores.append(_Store(leaves, site))
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                    # A property that is set may tell another value, or none, afterwards.
                    names = self._plain_values.setdefault(site, {})
                    if len(node.targets) == 1:
                        names[ast.unparse(leaves[-1])] = node.value.id

    def _visit_blocks(self, node: "Any", function: _Function, statement: _Statement) -> None:
        if isinstance(node, ast.Match):
            self._visit_cases(node, function, statement)
            return
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            return
        site = NO_SITE
        if isinstance(node, ast.If):
            site = self._find("branch", node)
        elif isinstance(node, ast.While):
            site = self._find("loop", node)
        elif isinstance(node, (ast.With, ast.AsyncWith)) and not node.items[-1].optional_vars:
            # Told where all is entered, which is after the last target was stored.
            site = self._find("assign", node)
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        self._add_arm(body, function, statement, site, is_endless)
        last = body[-1]
        for handler in getattr(node, "handlers", ()):
            site = self._find("branch", handler)
            self._add_arm(handler.body, function, statement, site)
            last = handler.body[-1]
        if node.orelse if hasattr(node, "orelse") else ():
            site = self._find_branch(_end(last), _start(node.orelse[0]))
            if isinstance(node, ast.If) and _is_elif(node, self._lines):
                site = NO_SITE  # the inner `if` has it
            self._add_arm(node.orelse, function, statement, site)
        if node.finalbody if hasattr(node, "finalbody") else ():
            self._visit_block(node.finalbody, function, statement)

    def _visit_cases(self, node: "Any", function: _Function, statement: _Statement) -> None:
        last = _end(node.subject)
        for case in node.cases:
            site = self._find_branch(last, _start(case.pattern))
            self._add_arm(case.body, function, statement, site)
            last = _end(case.body[-1])

    def _add_arm(
        self,
        block: "list[Any]",
        function: _Function,
        statement: _Statement,
        site: int,
        is_endless: bool = False,
    ) -> None:
        first, last = self._visit_block(block, function, statement)
        if site != NO_SITE:
            function.arms.append(_Arm(statement, first, last, site, is_endless))

    # From code objects to plans

    def find_functions(self, code: CodeType) -> "list[_Function]":
        name = code.co_name
        if name == "<module>" or name.startswith("<cell line"):  # as IPython calls them
            functions = self._functions[1, "<module>"]
        else:
            functions = self._functions.get((code.co_firstlineno, name), [])
        return [function for function in functions if function.is_wanted]

    def has_code(self, code: CodeType) -> bool:
        """Whether the code object is one that this source gives."""
        if self._codes is None:
            self._codes = set()
            waiting = [_compile(self.source, "exec")]
            while waiting:
                part = waiting.pop()
                self._codes.add(_identify(part))
                waiting.extend(inner for inner in part.co_consts if isinstance(inner, CodeType))
        return _identify(code) in self._codes

    def make_plan(self, code: CodeType) -> "dict[str, Any] | None":
        """What `_recorder.make_plan` takes; None where nothing is to be recorded in `code`."""
        functions = self.find_functions(code)
        if not functions:
            return None
        units = self._read_units(code)
        if units is None:
            return None
        plan = _Plan(units)
        for function in functions:
            self._place_stores(function, units, plan)
            self._place_calls(function, units, plan)
            self._place_arms(function, plan)
            self._place_returns(function, units, plan)
        enter = functions[0].enter
        if not plan.edges and not plan.returns and enter == NO_SITE:
            return None
        return {
            "is_function": bool(code.co_flags & _OPTIMIZED),
            "start": _find_start(units),
            **plan.finish(enter, len(code.co_code) // 2, lambda site: self._find_values(site, code)),
        }

    def _read_units(self, code: CodeType) -> "list[_Unit] | None":
        positions: "list[Any] | None"
        if sys.version_info >= (3, 11):
            positions = list(code.co_positions())
        else:
            positions = self._read_lines(code)
        if positions is None:
            return None
        units = []
        start = None
        for instruction in dis.get_instructions(code):
            if start is None:
                start = getattr(instruction, "start_offset", instruction.offset)
            if instruction.opname in ("EXTENDED_ARG", "CACHE"):
                continue
            units.append(_Unit(start, instruction, positions[instruction.offset // 2]))
            start = None
        previous = None
        for unit in units:
            # What the compiler added for itself belongs to what stands before it.
            found = self._find_statement(unit.position)
            unit.statement = previous = found if found is not None else previous
            if unit.name in _ENDS:
                previous = None
        return units

    def _find_statement(self, position: "Any") -> "_Statement | None":
        """The innermost statement around a position."""
        line, end_line, column, end_column = position
        if line is None:
            return None
        if column is None:
            return self._find_spread(line)
        at = bisect_right(self._starts, (line, column)) - 1
        if at < 0:
            return None
        statement: "_Statement | None" = self._statements[at]
        while statement is not None and _end(statement.node) < (end_line, end_column):
            statement = statement.parent
        return statement

    # Python 3.10: lines alone

    def _find_spread(self, line: int) -> "_Statement | None":
        at = self._by_line.get(line)
        return self._statements[at] if at is not None and at >= 0 else None

    def _read_lines(self, code: CodeType) -> "list[Any] | None":
        """The code's lines, where each statement of a line has a number of its own.

        The source is compiled once more with such lines. That gives the same instructions,
        but for the no-operations that are there for tracing.
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
        """What the spread source gives in its place."""
        if code.co_name != "<module>" and not code.co_name.startswith("<cell line"):
            yield from self._spread.get((code.co_firstlineno, code.co_name), ())
            return
        yield from self._spread.get((1, "<module>"), ())
        if self._pieces is None:
            # A notebook's statements are compiled one by one.
            self._pieces = []
            for node in self._spread_body:
                self._pieces.append(_compile(ast.Module([node], []), "exec"))
                self._pieces.append(_compile(ast.Interactive([node]), "single"))
        yield from self._pieces

    def _place_fillers(self, code: CodeType, lines: "list[Any]") -> None:
        """Operations that do nothing stand for the beginning of `while True` or `try`."""
        starts: "dict[int, list[_Statement]]" = {}
        for statement in self._statements:
            if isinstance(statement.node, (ast.While, ast.Try, ast.Pass)):
                starts.setdefault(statement.node.lineno, []).append(statement)
        for part in dis.get_instructions(code):
            if part.opname == "NOP" and part.starts_line is not None:
                there = starts.get(part.starts_line)
                if there:
                    line = self._line_of[there[0].node]
                    lines[part.offset // 2] = (line, line, None, None)

    def _compile_spread(self) -> "dict[tuple[int, str], list[CodeType]]":
        tree = ast.parse(self.source)
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

        spread(tree, -1)
        for original, moved in zip(ast.walk(self.tree), ast.walk(tree)):
            if hasattr(original, "lineno"):
                self._line_of[original] = moved.lineno  # type: ignore[attr-defined]
        codes: "dict[tuple[int, str], list[CodeType]]" = {}
        self._spread_body = tree.body
        waiting = [_compile(tree, "exec")]
        while waiting:
            code = waiting.pop()
            line = 1 if code.co_name == "<module>" else code.co_firstlineno // _SPREAD
            codes.setdefault((line, code.co_name), []).append(code)
            waiting.extend(part for part in code.co_consts if isinstance(part, CodeType))
        return codes

    # What is visited where

    def _place_stores(self, function: _Function, units: "list[_Unit]", plan: "_Plan") -> None:
        found: "dict[tuple[Any, ...], list[int]]" = {}
        for index, unit in enumerate(units):
            kind = _STORES.get(unit.name)
            if kind is not None and not _is_unbinding(index, units):
                found.setdefault(_store_key(unit, kind), []).append(index)
        asked: "dict[tuple[Any, ...], list[tuple[_Store, Any]]]" = {}
        for store in function.stores:
            for leaf in store.leaves[-1:] if _HAS_COLUMNS else store.leaves:
                asked.setdefault(self._leaf_key(leaf), []).append((store, leaf))
        for key, stores in asked.items():
            places = found.get(key, [])
            for number, index in enumerate(places):
                # Without columns: in the order of the text, over and over where the
                # compiler has doubled the code.
                wanted = stores if _HAS_COLUMNS else [stores[number % len(stores)]]
                for store, leaf in wanted:
                    if leaf is store.leaves[-1]:
                        self._place_store(store, index, units, plan)
            if not places and key[0] is ast.Name:
                self._place_double([store for store, _ in stores], units, plan)

    def _place_store(
        self, store: "_Store", index: int, units: "list[_Unit]", plan: "_Plan"
    ) -> None:
        """Where a target's last part is stored; the compiler may have moved others behind it."""
        if len(store.leaves) > 1:
            keys = {self._leaf_key(leaf) for leaf in store.leaves}
            while index + 1 < len(units):
                kind = _STORES.get(units[index + 1].name)
                if kind is None or _store_key(units[index + 1], kind) not in keys:
                    break
                index += 1
        plan.add_step(units[index], store.site)

    def _place_double(
        self, stores: "list[_Store]", units: "list[_Unit]", plan: "_Plan"
    ) -> None:
        """The second name of an instruction that stores two: it has the first one's position."""
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
            name = self._find_private(_start(leaf), name)
        if _HAS_COLUMNS:
            return type(leaf), name, _end(leaf)
        return type(leaf), name, self._line_of.get(leaf)

    def _place_calls(self, function: _Function, units: "list[_Unit]", plan: "_Plan") -> None:
        asked = {statement.number: site for statement, site in function.calls}
        for before, unit in zip(units, units[1:]):
            statement = unit.statement
            if unit.name not in ("POP_TOP", "PRINT_EXPR") or statement is None or statement.number not in asked:
                continue
            if before.statement is not statement:
                continue
            if _HAS_COLUMNS:
                value = statement.node.value
                line, end_line, column, end_column = before.position
                is_end = ((line, column), (end_line, end_column)) == (_start(value), _end(value))
            else:
                is_end = before.name.startswith("CALL") or before.name == "YIELD_FROM"
            if is_end:
                plan.add_step(unit, asked[statement.number])

    def _place_arms(self, function: _Function, plan: "_Plan") -> None:
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

    def _find_entry(self, arm: _Arm) -> int:
        """The last statement that a block's first instruction may belong to."""
        number = arm.first
        while number < arm.last and _has_no_start(self._statements[number].node):
            number += 1
        return number

    def _place_returns(self, function: _Function, units: "list[_Unit]", plan: "_Plan") -> None:
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
                # What is to be left comes after the return is told, as in instrumented code.
                self._early.add(site)
                plan.add_step(units[at], site)
            else:
                plan.returns[unit] = site

    @staticmethod
    def _find_returning(index: int, units: "list[_Unit]") -> "int | None":
        """Where the statement stands that a return belongs to: before what is done on the way
        out of `with` and `try`."""
        at = index
        while _is_way_out(units[at].statement) and units[at].name != "STORE_FAST_LOAD_FAST":
            at -= 1
            if at < 0 or units[at].name in _ENDS:
                return None
        return at

    @staticmethod
    def _find_return(unit: _Unit, function: _Function) -> "_Statement | None":
        statement = unit.statement
        if unit.name == "STORE_FAST_LOAD_FAST" and not _is_return(statement):
            # The value of a return on the same line is loaded along.
            for statement in function.statements:
                node = statement.node
                if _is_return(statement) and node.lineno == unit.position[0]:
                    if isinstance(node.value, ast.Name) and node.value.id == unit.value[1]:
                        return statement
            return None
        return statement if _is_return(statement) else None

    # What is told

    def _find_values(self, site: int, code: CodeType) -> "tuple[Value, ...]":
        """How each value that a visit tells is found: `(root, dotted name, slot)`."""
        record = self.sites[site]
        values: "list[Value]" = []
        for written, how in record["writes"]:
            name = written
            if "__" in name:
                column = self._byte_column(record["line"], record["column"])
                name = self._find_private((record["line"], column), name)
            if how == "none":
                continue
            if record["kind"] == "return" and site not in self._early:
                values.append((None, None, -1))
                continue
            if record["kind"] == "return":
                name = self._find_returned(record)
            root = name.partition(".")[0]
            dotted = name.encode("utf-8", "replace") if how == "value" and root != name else None
            if dotted is not None and written in self._plain_values.get(site, {}):
                root, dotted = self._plain_values[site][written], None
            values.append((root, dotted, _find_slot(code, root)))
        return tuple(values)

    def _find_returned(self, site: "Site") -> str:
        """The name that an early return gives."""
        position = site["line"], self._byte_column(site["line"], site["column"])
        node = self._statements[bisect_right(self._starts, position) - 1].node
        return node.value.id if isinstance(node.value, ast.Name) else ""

    def _find_private(self, position: "Position", name: str) -> str:
        """A dotted name as it is bound: a class's `__x` is `_Class__x`."""
        at = bisect_right(self._starts, position) - 1
        statement = self._statements[at] if at >= 0 else None
        while statement is not None and not isinstance(statement.node, ast.ClassDef):
            statement = statement.parent
        owner = statement.node.name.lstrip("_") if statement is not None else ""
        parts = [
            f"_{owner}{part}" if part.startswith("__") and not part.endswith("__") else part
            for part in name.split(".")
        ]
        return ".".join(parts) if owner else name


class _Plan:
    """The steps between instructions that a code object's visits are told by."""

    def __init__(self, units: "list[_Unit]") -> None:
        self.units = units
        self.following = dict(zip(units, units[1:]))
        self.flow = list(_find_flow(units))
        self.edges: "list[tuple[_Unit, _Unit, int]]" = []
        self.returns: "dict[_Unit, int]" = {}

    def add(self, before: _Unit, after: _Unit, site: int) -> None:
        self.edges.append((before, after, site))

    def add_step(self, unit: _Unit, site: int) -> None:
        after = self.following.get(unit)
        if after is not None:
            self.add(unit, after, site)

    def finish(
        self, enter: int, size: int, find_values: "Callable[[int], tuple[Value, ...]]"
    ) -> "dict[str, Any]":
        """Numbers what matters: where a step ends, and all from where it may be reached."""
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


def _find_flow(units: "list[_Unit]") -> "Iterator[tuple[_Unit, _Unit]]":
    """Which instruction may run after which, exceptions apart."""
    at = {offset: index for index, unit in enumerate(units)
          for offset in range(unit.start, unit.offset + 2, 2)}  # fmt: skip
    for index, unit in enumerate(units):
        if unit.name not in _ENDS and index + 1 < len(units):
            yield unit, units[index + 1]
        target = at.get(unit.target) if unit.target is not None else None
        if target is None:
            continue
        yield unit, units[target]
        # An iterator's end is passed over, with what is popped there.
        while units[target].name in ("END_FOR", "POP_TOP") and target + 1 < len(units):
            target += 1
            yield unit, units[target]


def _find_start(units: "list[_Unit]") -> int:
    """The last offset at which a frame still stands at its beginning."""
    for unit in units:
        if unit.name == "RESUME":
            return unit.offset
    return 0


def _is_way_out(statement: "_Statement | None") -> bool:
    return statement is None or (
        not isinstance(statement.node, ast.Return)
        and (statement.is_final or isinstance(statement.node, (ast.With, ast.AsyncWith, ast.Try)))
    )


def _has_no_start(node: "Any") -> bool:
    """Whether a statement may have no instruction of its own where it begins."""
    return (
        isinstance(node, (ast.Try, ast.Pass, ast.Global, ast.Nonlocal))
        or (isinstance(node, ast.While) and isinstance(node.test, ast.Constant))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.AnnAssign) and node.value is None)
    )


def _is_return(statement: "_Statement | None") -> bool:
    return statement is not None and isinstance(statement.node, ast.Return)


def _loop_of(statement: "_Statement | None") -> "_Statement | None":
    while statement is not None and not isinstance(statement.node, _LOOPS):
        statement = statement.parent
    return statement


def _is_unbinding(index: int, units: "list[_Unit]") -> bool:
    """Whether a store is what ends `except … as name`: it has the position of what precedes."""
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


def _store_key(unit: _Unit, kind: type) -> "tuple[Any, ...]":
    name = unit.value[0] if isinstance(unit.value, tuple) else unit.value
    name = None if kind is ast.Subscript else name
    if _HAS_COLUMNS:
        return kind, name, (unit.position[1], unit.position[3])
    return kind, name, unit.position[0]


def _identify(code: CodeType) -> "tuple[object, ...]":
    return code.co_name, code.co_firstlineno, code.co_code, code.co_linetable


def _find_slot(code: CodeType, name: str) -> int:
    """Where the frame keeps a variable, see follow_frame.h; -1: the code has no such variable."""
    if not code.co_flags & _OPTIMIZED:
        return -1
    names = [*code.co_varnames]
    cells = [*code.co_cellvars, *code.co_freevars]
    if sys.version_info >= (3, 11):
        names += [cell for cell in cells if cell not in code.co_varnames]
    elif name in cells:
        return 2 * (len(names) + cells.index(name)) + 1
    return 2 * names.index(name) + (name in cells) if name in names else -1


def _instructions(code: CodeType) -> "list[tuple[int, str, object, int | None]]":
    """Offset, name, argument and line of what is there for more than tracing."""
    lines: "dict[int, int | None]" = {}
    for start, end, line in code.co_lines():
        for offset in range(start, end, 2):
            lines[offset] = line
    return [
        (
            part.offset,
            part.opname,
            None if part.opcode in _JUMPS else _argument(part),
            lines.get(part.offset),
        )
        for part in dis.get_instructions(code)
        if part.opname not in ("NOP", "EXTENDED_ARG")
    ]


def _argument(part: "dis.Instruction") -> object:
    is_plain = isinstance(part.argval, (str, bytes, int, float, complex, type(None)))
    return (type(part.argval), part.argval) if is_plain else part.arg


def _compile(tree: "Any", mode: str) -> CodeType:
    code = compile(tree, "<followed>", mode, dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def _start(node: "Any") -> "Position":
    return node.lineno, node.col_offset


def _end(node: "Any") -> "Position":
    return node.end_lineno, node.end_col_offset


def _leaves(target: "Any") -> "list[Any]":
    """The parts of an assignment's target, in the order in which they are stored."""
    if isinstance(target, ast.Starred):
        return _leaves(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [leaf for part in target.elts for leaf in _leaves(part)]
    return [target]


def _expressions(statement: "Any") -> "Iterator[Any]":
    """The expressions of a statement itself, those of its blocks and of inner scopes apart."""
    waiting = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                if isinstance(child, ast.match_case) and child.guard is not None:
                    waiting.append(ast.Expr(child.guard))
                elif isinstance(child, ast.ExceptHandler) and child.type is not None:
                    waiting.append(ast.Expr(child.type))
                continue
            yield child
            waiting.append(child)


def _is_elif(node: "Any", lines: "list[bytes]") -> bool:
    first = node.orelse[0]
    text = lines[first.lineno - 1] if first.lineno <= len(lines) else b""
    return (
        len(node.orelse) == 1
        and isinstance(first, ast.If)
        and text[first.col_offset : first.col_offset + 4] == b"elif"
    )


def _as_utf8(source: bytes) -> bytes:
    import io
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    if encoding in ("utf-8", "utf-8-sig"):
        return source
    return source.decode(encoding).encode("utf-8")
