"""Takes insertions out of a syntax tree, and compares what is left with the original's tree.

Written against contract 1 of docs/design, not against the compiler's own strip, so that the two
check each other. Every inserted name begins with a prefix that no word of the original begins
with; the prefix is read from the bootstrap.
"""

import ast


def _is_bootstrap(node):
    """Whether an expression asks for monitorch: __import__('monitorch' or ...)..."""
    for call in ast.walk(node):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "__import__"
            and call.args
        ):
            name = call.args[0]
            if isinstance(name, ast.BoolOp):
                name = name.values[0]
            if isinstance(name, ast.Constant) and name.value in ("monitorch", "monitorch.spy"):
                return True
    return False


def find_prefix(tree):
    """The prefix of the inserted names; None where there is no bootstrap.

    The bootstrap hands the site table over, `_mt(globals(), 'monitorch1 HASH PREFIX ...')`.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 2:
            table = node.args[1]
            if isinstance(table, ast.Constant) and isinstance(table.value, str):
                words = table.value.split(" ", 3)
                if len(words) == 4 and words[0] == "monitorch2":
                    return words[2]
    return None


def _prefix_set_in_function(node):
    """The prefix that `'_mt' in globals() or globals().__setitem__('_mt', ...)` sets: where no
    statement of the module runs early enough, the bootstrap stands in functions."""
    if not (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)):
        return None
    test, call = node.values[0], node.values[-1]
    if not (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Constant)
        and ast.unparse(test.comparators[0]) == "globals()"
        and isinstance(call, ast.Call)
        and ast.unparse(call.func) == "globals().__setitem__"
        and len(call.args) == 2
        and ast.unparse(call.args[0]) == repr(test.left.value)
        and _is_bootstrap(call.args[1])
    ):
        return None
    return test.left.value


class Difference(Exception):
    pass


class Comparison:
    def __init__(self, prefix, spy=False):
        self.prefix = prefix
        self.spy = spy

    # What is an insertion

    def is_ours(self, node):
        return isinstance(node, ast.Name) and (
            node.id.startswith(self.prefix) or (self.spy and node.id == "spy_save")
        )

    def is_inert(self, node):
        """An expression that is an insertion and nothing else."""
        if isinstance(node, ast.Name):
            return self.is_ours(node)
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == self.prefix
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not) and self.is_inert(node.operand)
        if isinstance(node, ast.NamedExpr):
            return self.is_ours(node.target) and (
                _is_bootstrap(node.value) or self._is_none(node.value)
            )
        if isinstance(node, ast.Compare):
            return self.is_inert(node.left) and all(map(self.is_inert, node.comparators))
        if isinstance(node, ast.BoolOp):
            if _prefix_set_in_function(node) == self.prefix:
                return True
            rest = [v for v in node.values if not self.is_inert(v)]
            return len(rest) < len(node.values) and all(self._is_nothing(v) for v in rest)
        return _is_bootstrap(node) and isinstance(node, ast.Attribute)

    @staticmethod
    def _is_none(node):
        return isinstance(node, ast.Constant) and node.value is None

    @staticmethod
    def _is_nothing(node):
        return isinstance(node, ast.Tuple) and not node.elts

    def is_inserted_statement(self, node):
        if isinstance(node, ast.Expr):
            return self.is_inert(node.value) or (self.spy and self._is_spy_call(node.value))
        if isinstance(node, ast.Assign):
            return all(map(self.is_ours, node.targets))
        if isinstance(node, ast.Delete):
            return all(map(self.is_ours, node.targets))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return all(name.startswith(self.prefix) for name in node.names)
        if isinstance(node, ast.ImportFrom) and self.spy:
            return node.module == "monitorch.spy"
        return False

    @staticmethod
    def _is_spy_call(node):
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "spy_save"
        )

    # What is left of a node when its insertions are gone

    def peel(self, node):
        while True:
            if isinstance(node, ast.NamedExpr) and self.is_ours(node.target):
                node = node.value
                continue
            if not isinstance(node, ast.BoolOp):
                return node
            value = self._recorded_value(node)
            if value is not None:
                if isinstance(value, ast.NamedExpr) and not self.is_ours(value.target):
                    return value
                node = value
                continue
            rest = [v for v in node.values if not self.is_inert(v)]
            if len(rest) == len(node.values):
                return node
            if len(rest) != 1:
                return ast.copy_location(ast.BoolOp(op=node.op, values=rest), node)
            node = rest[0]

    def _recorded_value(self, node):
        """`(name := e) is not _mt and _mt and _mt(i, name) or name` -> `(name := e)`."""
        first = node.values[0]
        if not (isinstance(node.op, ast.Or) and isinstance(first, ast.BoolOp)):
            return None
        test = first.values[0]
        if not (
            isinstance(first.op, ast.And)
            and isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.ops[0], ast.IsNot)
            and self.is_ours(test.comparators[0])
            and isinstance(test.left, ast.NamedExpr)
        ):
            return None
        end = node.values[1]
        if not (
            len(node.values) == 2
            and isinstance(end, ast.Name)
            and end.id == test.left.target.id
            and all(map(self.is_inert, first.values[1:]))
        ):
            raise Difference(f"line {node.lineno}: a recorded value that gives another")
        return test.left

    def _list(self, items):
        if not items:
            return items
        if isinstance(items[0], ast.stmt):
            return [s for s in items if not self.is_inserted_statement(s)]
        if isinstance(items[0], (ast.expr,)):
            return [
                e
                for e in items
                if not (isinstance(e, ast.Starred) and self.is_inert(e.value))
            ]
        return items

    def compare(self, original, rewritten):
        """Raises Difference where the trees differ, lines included."""
        stack = [(original, rewritten)]
        while stack:
            a, b = stack.pop()
            if isinstance(b, ast.expr):
                b = self.peel(b)
            if type(a) is not type(b):
                raise Difference(f"{_where(a, b)}: {_what(a)} became {_what(b)}")
            if isinstance(a, ast.AST):
                self._compare_lines(a, b)
                for field in a._fields:
                    x, y = getattr(a, field, None), getattr(b, field, None)
                    if field == "targets" and isinstance(b, (ast.Assign, ast.Delete)):
                        y = [t for t in y if not self.is_ours(t)]
                    if x is not None or y is not None:
                        stack.append((x, y))
            elif isinstance(a, list):
                b = self._list(b)
                if len(a) != len(b):
                    shown = [[_what(i) for i in side[:6]] for side in (a, b)]
                    raise Difference(f"{_where(a, b)}: {shown[0]} became {shown[1]}")
                stack.extend(zip(a, b))
            elif a != b and repr(a) != repr(b):
                raise Difference(f"{a!r} became {b!r}"[:300])

    @staticmethod
    def _compare_lines(a, b):
        if not hasattr(a, "lineno"):
            return
        if a.lineno != b.lineno or (
            isinstance(a, ast.stmt) and a.end_lineno != b.end_lineno
        ):
            raise Difference(
                f"{type(a).__name__} of lines {a.lineno}-{a.end_lineno} "
                f"moved to {b.lineno}-{b.end_lineno}"
            )


def _what(node):
    return type(node).__name__ if isinstance(node, ast.AST) else repr(node)[:60]


def _where(a, b):
    for side in (a, b):
        node = side[0] if isinstance(side, list) and side else side
        if hasattr(node, "lineno"):
            return f"line {node.lineno}"
    return "no line"


def difference(original, rewritten, prefix, spy=False):
    """How the trees differ once the insertions are gone; None where they do not."""
    try:
        Comparison(prefix, spy).compare(original, rewritten)
    except Difference as found:
        return str(found)
    return None
