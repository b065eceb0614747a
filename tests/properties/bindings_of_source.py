"""What Python's own parser says a source binds and reads, as the compiler's sites should.

`expected(tree)` gives {(function, line of its def): {(kind, line, names written): names read}} where
the names read are None for sites that tell none. Left out is what the compiler leaves alone: class
bodies, lambdas, comprehensions' own variables, f-strings, annotations, decorators and defaults.
"""

import ast

SKIPPED = (ast.Lambda, ast.JoinedStr) + ((ast.TemplateStr,) if hasattr(ast, "TemplateStr") else ())
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
TRIES = (ast.Try,) + ((ast.TryStar,) if hasattr(ast, "TryStar") else ())
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def names_bound(target, with_changed=False):
    """The plain names in a target, in order; `x` of `x[i]` too where that is asked for."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Starred):
        return names_bound(target.value, with_changed)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for part in target.elts for name in names_bound(part, with_changed)]
    if with_changed and isinstance(target, ast.Subscript):
        while isinstance(target, ast.Subscript):
            target = target.value
        return names_bound(target)
    return []


def names_captured(pattern):
    found = []
    for node in ast.walk(pattern):
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            found.append(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.append(node.rest)
    return found


def names_read(node, hidden=frozenset()):
    """The names that evaluating an expression loads from the function's own scope."""
    if node is None or isinstance(node, SKIPPED):
        return set()
    if isinstance(node, ast.Name):
        return {node.id} - hidden
    if isinstance(node, ast.NamedExpr):
        return names_read(node.value, hidden)
    if isinstance(node, COMPREHENSIONS):
        variables = {name for g in node.generators for name in names_bound(g.target)}
        hidden = hidden | variables
    return {name for child in ast.iter_child_nodes(node) for name in names_read(child, hidden)}


def places_read(target):
    """The names that storing into a target loads: the `i` and `x` of `x[i] = v`."""
    if isinstance(target, ast.Name):
        return set()
    if isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
        return {n for child in ast.iter_child_nodes(target) for n in places_read(child)}
    return names_read(target)


class Function:
    def __init__(self, name, line, is_class=False):
        self.name, self.line, self.is_class = name, line, is_class
        self.sites = {}

    def inner_name(self, name):
        if self.name == "<module>":
            return name
        return f"{self.name}.{name}" if self.is_class else f"{self.name}.<locals>.{name}"


def is_dunder_assignment(node):
    """`__all__ = [...]`: tools read such lines of a module as text, so they are left alone."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        target = node.target
    else:
        return False
    return isinstance(target, ast.Name) and target.id[:2] == target.id[-2:] == "__"


class Reader:
    def __init__(self):
        self.functions = []

    def add(self, function, line, names, reads, is_header=False):
        if is_header:
            names = [name for name in names if name != "_"]
        if not function.is_class and names:
            key = line, tuple(dict.fromkeys(names))
            function.sites.setdefault(key, set()).update(reads)

    def walruses(self, function, node):
        if node is None or isinstance(node, SKIPPED + COMPREHENSIONS):
            return
        if isinstance(node, ast.NamedExpr):
            self.add(function, node.lineno, [node.target.id], names_read(node.value))
        for child in ast.iter_child_nodes(node):
            self.walruses(function, child)

    def block(self, function, statements):
        for statement in statements:
            self.statement(function, statement)

    def statement(self, function, node):
        if function.name == "<module>" and is_dunder_assignment(node):
            return
        if isinstance(node, FUNCTIONS):
            self.function(function, node)
        elif isinstance(node, ast.ClassDef):
            inner = Function(function.inner_name(node.name), node.lineno, True)
            self.block(inner, node.body)
        elif isinstance(node, ast.Assign):
            self.walruses(function, node)
            names = [name for target in node.targets for name in names_bound(target, True)]
            names = names if any(map(names_bound, node.targets)) else []
            reads = names_read(node.value).union(*map(places_read, node.targets))
            self.add(function, node.lineno, names, reads)
        elif isinstance(node, ast.AugAssign):
            self.walruses(function, node)
            self.add(function, node.lineno, names_bound(node.target),
                     names_read(node.value) | names_read(node.target))
        elif isinstance(node, ast.AnnAssign):
            self.walruses(function, node.value)
            if node.value is not None:
                self.add(function, node.lineno, names_bound(node.target), names_read(node.value))
        elif isinstance(node, ast.Return):
            self.walruses(function, node.value)
            self.add(function, node.lineno, ["return"], names_read(node.value))
        elif isinstance(node, LOOPS):
            self.loop(function, node)
        elif isinstance(node, ast.If):
            self.walruses(function, node.test)
            self.block(function, node.body)
            self.block(function, node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            names, reads = [], set()
            for item in node.items:
                self.walruses(function, item.context_expr)
                reads |= names_read(item.context_expr)
                if item.optional_vars is not None:
                    names += names_bound(item.optional_vars, True)
            self.add(function, node.lineno, names, reads, True)
            self.block(function, node.body)
        elif isinstance(node, TRIES):
            self.attempt(function, node)
        elif isinstance(node, ast.Match):
            self.choice(function, node)
        else:
            self.walruses(function, node)

    def loop(self, function, node):
        if isinstance(node, ast.While):
            self.walruses(function, node.test)
        else:
            self.walruses(function, node.iter)
            reads = names_read(node.iter)
            self.add(function, node.lineno, names_bound(node.target, True), reads, True)
        self.block(function, node.body)
        self.block(function, node.orelse)

    def attempt(self, function, node):
        self.block(function, node.body)
        for handler in node.handlers:
            self.walruses(function, handler.type)
            if handler.name:
                self.add(function, handler.lineno, [handler.name], names_read(handler.type), True)
            self.block(function, handler.body)
        self.block(function, node.orelse)
        self.block(function, node.finalbody)

    def choice(self, function, node):
        self.walruses(function, node.subject)
        for case in node.cases:
            self.walruses(function, case.guard)
            reads = names_read(node.subject) | names_read(case.guard)
            self.add(function, case.pattern.lineno, names_captured(case.pattern), reads, True)
            self.block(function, case.body)

    def function(self, outer, node):
        function = Function(outer.inner_name(node.name), node.lineno)
        self.functions.append(function)
        given = node.args
        names = [a.arg for a in given.posonlyargs + given.args]
        names += [given.vararg.arg] if given.vararg else []
        names += [a.arg for a in given.kwonlyargs]
        names += [given.kwarg.arg] if given.kwarg else []
        self.add(function, node.lineno, names, set())
        self.block(function, node.body)


def expected(tree):
    reader = Reader()
    module = Function("<module>", 1)
    reader.functions.append(module)
    reader.block(module, tree.body)
    return {(f.name, f.line): f.sites for f in reader.functions}
