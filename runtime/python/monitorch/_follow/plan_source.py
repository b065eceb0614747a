"""The statements of a source, and the sites of the compiler's table that belong to them. Python's
own parser finds the statements."""

import ast
import re
from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from monitorch._instrument import Site

    Position = tuple[int, int]

NO_SITE = 0xFFFFFFFF
_LINE_END = re.compile(rb"\r\n|\r|\n")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Statement:
    """One statement of the source, in the order of the text."""

    __slots__ = ("node", "number", "end", "parent", "is_final")

    def __init__(self, node: "Any", number: int, parent: "Statement | None") -> None:
        self.node = node
        self.number = number
        self.end = number  # the last statement inside it
        self.parent = parent
        self.is_final: bool = parent is not None and (
            parent.is_final or node in getattr(parent.node, "finalbody", ())
        )


class Arm:
    """A block that begins with a visit: an arm of a branch, or the body of a `while`."""

    __slots__ = ("statement", "first", "last", "site", "is_endless")

    def __init__(
        self, statement: Statement, first: int, last: int, site: int, is_endless: bool = False
    ) -> None:
        self.statement = statement
        self.first = first  # numbers of the statements in it
        self.last = last
        self.site = site
        self.is_endless = is_endless


class Store:
    """An assignment: the parts of its targets in their order."""

    __slots__ = ("leaves", "site")

    def __init__(self, leaves: "list[Any]", site: int) -> None:
        self.leaves = leaves
        self.site = site


class Function:
    """The sites of one function of the source, or of its module level."""

    def __init__(self, node: "Any") -> None:
        self.node = node
        self.enter = NO_SITE
        self.stores: "list[Store]" = []
        self.calls: "list[tuple[Statement, int]]" = []  # expression statements
        self.arms: "list[Arm]" = []
        self.returns: "dict[int, int]" = {}  # number of the statement -> site
        self.statements: "list[Statement]" = []
        self.is_wanted = False


class SourceTree:
    """A source's statements in the order of the text, and its functions with their sites."""

    def __init__(self, source: bytes, sites: "list[Site]") -> None:
        self.source = source
        self.sites = sites
        self.tree = ast.parse(source)
        self.statements: "list[Statement]" = []
        self.functions: "dict[tuple[int, str], list[Function]]" = {}
        self.plain_values: "dict[int, dict[str, str]]" = {}  # site -> target -> name assigned
        self._lines: "list[bytes]" = _LINE_END.split(_as_utf8(source))
        self._site_at: "dict[tuple[str, Position], list[Site]]" = {}
        self._branches: "list[tuple[Position, int]]" = []
        for site in sites:
            position = self.position_of(site)
            self._site_at.setdefault((site["kind"], position), []).append(site)
            if site["kind"] == "branch":
                self._branches.append((position, site["id"]))
        self._branches.sort()
        module = Function(self.tree)
        self.functions[1, "<module>"] = [module]
        self._visit_block(self.tree.body, module, None)
        self._starts = [start_of(statement.node) for statement in self.statements]
        for functions in self.functions.values():
            for function in functions:
                function.is_wanted = bool(
                    function.enter != NO_SITE or function.stores or function.calls
                    or function.arms or function.returns
                )  # fmt: skip

    def position_of(self, site: "Site") -> "Position":
        """The position of a site: its line, and the column in bytes."""
        return site["line"], self._byte_column(site["line"], site["column"])

    def find_statement(self, position: "Position") -> "Statement | None":
        """The last statement that begins at the position or before it."""
        at = bisect_right(self._starts, position) - 1
        return self.statements[at] if at >= 0 else None

    def _byte_column(self, line: int, column: int) -> int:
        if line > len(self._lines):
            return column - 1
        text = self._lines[line - 1]
        if line == 1 and text.startswith(b"\xef\xbb\xbf"):
            text = text[3:]
        if text.isascii():
            return column - 1
        return len(text.decode("utf-8", "replace")[: column - 1].encode("utf-8"))

    def _find(self, kind: str, node: "Any") -> int:
        sites = self._site_at.get((kind, start_of(node)))
        return sites[0]["id"] if sites else NO_SITE

    def _find_branch(self, after: "Position", before: "Position") -> int:
        """The branch site of an arm whose header is between the two."""
        at = bisect_right(self._branches, (before, NO_SITE)) - 1
        if at >= 0 and self._branches[at][0] >= after:
            return self._branches[at][1]
        return NO_SITE

    def _visit_block(
        self, block: "list[Any]", function: Function, parent: "Statement | None"
    ) -> "tuple[int, int]":
        first = len(self.statements)
        for node in block:
            self._visit_statement(node, function, parent)
        return first, len(self.statements) - 1

    def _visit_statement(
        self, node: "Any", function: Function, parent: "Statement | None"
    ) -> None:
        statement = Statement(node, len(self.statements), parent)
        self.statements.append(statement)
        function.statements.append(statement)
        self._visit_expressions(node, function)
        if isinstance(node, _FUNCTIONS):
            self._visit_function(node, statement)
        elif isinstance(node, ast.ClassDef):
            # In a class body only its functions are recorded.
            self._visit_block(node.body, Function(node), statement)
        else:
            self._visit_plain(node, function, statement)
            self._visit_blocks(node, function, statement)
        statement.end = len(self.statements) - 1

    def _visit_function(self, node: "Any", statement: Statement) -> None:
        function = Function(node)
        function.enter = self._find("enter", node)
        line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        self.functions.setdefault((line, node.name), []).append(function)
        self._visit_block(node.body, function, statement)

    def _visit_expressions(self, node: "Any", function: Function) -> None:
        for expression in _expressions(node):
            if isinstance(expression, ast.NamedExpr):
                site = self._find("assign", expression)
                if site != NO_SITE:
                    function.stores.append(Store([expression.target], site))

    def _visit_plain(self, node: "Any", function: Function, statement: Statement) -> None:
        """Adds the stores of the statement itself, without the blocks inside it."""
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
        leaves = [leaf for target in targets for leaf in leaves_of(target)]
        for kind in kinds if leaves else ():
            site = self._find(kind, node)
            if site != NO_SITE:
                function.stores.append(Store(leaves, site))
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                    # A property may have another value after it was set, or none.
                    names = self.plain_values.setdefault(site, {})
                    if len(node.targets) == 1:
                        names[ast.unparse(leaves[-1])] = node.value.id

    def _visit_blocks(self, node: "Any", function: Function, statement: Statement) -> None:
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
            # Visited after all contexts are entered, which is after the last target was stored.
            site = self._find("assign", node)
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        self._add_arm(body, function, statement, site, is_endless)
        last = body[-1]
        for handler in getattr(node, "handlers", ()):
            site = self._find("branch", handler)
            self._add_arm(handler.body, function, statement, site)
            last = handler.body[-1]
        if node.orelse if hasattr(node, "orelse") else ():
            site = self._find_branch(end_of(last), start_of(node.orelse[0]))
            if isinstance(node, ast.If) and _is_elif(node, self._lines):
                site = NO_SITE  # the inner `if` has the site
            self._add_arm(node.orelse, function, statement, site)
        if node.finalbody if hasattr(node, "finalbody") else ():
            self._visit_block(node.finalbody, function, statement)

    def _visit_cases(self, node: "Any", function: Function, statement: Statement) -> None:
        last = end_of(node.subject)
        for case in node.cases:
            site = self._find_branch(last, start_of(case.pattern))
            self._add_arm(case.body, function, statement, site)
            last = end_of(case.body[-1])

    def _add_arm(
        self,
        block: "list[Any]",
        function: Function,
        statement: Statement,
        site: int,
        is_endless: bool = False,
    ) -> None:
        first, last = self._visit_block(block, function, statement)
        if site != NO_SITE:
            function.arms.append(Arm(statement, first, last, site, is_endless))


def start_of(node: "Any") -> "Position":
    return node.lineno, node.col_offset


def end_of(node: "Any") -> "Position":
    return node.end_lineno, node.end_col_offset


def leaves_of(target: "Any") -> "list[Any]":
    """The parts of an assignment's target, in the order in which they are stored."""
    if isinstance(target, ast.Starred):
        return leaves_of(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [leaf for part in target.elts for leaf in leaves_of(part)]
    return [target]


def _expressions(statement: "Any") -> "Iterator[Any]":
    """The expressions of a statement itself, without those of its blocks and of inner scopes."""
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
