"""Random Python programs from a grammar: every kind of statement, in odd layouts.

`program(choose)` builds one; `choose(n)` gives a number from 0 to n - 1, so that a random
generator or a test library can drive it. Programs are meant to compile, not to run; the few that do
not compile are for the caller to leave out.
"""

import sys

from tests.properties.statements import Statements

NAMES = ["a", "b", "x", "self", "out", "match", "type", "case", "_", "é", "n1", "print"]
BINARY = ["+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "|", "^"]
COMPARE = ["==", "!=", "<", ">", "<=", ">=", "is", "is not", "in", "not in"]
AUGMENTED = ["+=", "-=", "*=", "/=", "//=", "%=", "@=", "**=", "<<=", ">>=", "&=", "|=", "^="]
CONSTANTS = [
    "0", "1_000", "0x1f", "1.5e3", "2j", "None", "True", "...", "'s'", '"d"', "b'b'", "r'\\d'",
    "''", "'a' 'b'", "'#'", "';'", "'\\''", "u'u'", "-1", "__debug__",
]
LINE_ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\r"]


class Program(Statements):
    def __init__(self, choose):
        super().__init__(choose)
        self.line_end = LINE_ENDS[choose(len(LINE_ENDS))]
        self.unit = ["    ", "  ", "\t", " "][choose(4)]
        self.left = 25 + choose(40)  # statements
        self.in_function = self.in_loop = self.is_async = False
        self.bound = None  # names that a nonlocal may name

    def maybe(self, text, of=2):
        return text if self.choose(of) == 0 else ""

    def name(self):
        return NAMES[self.choose(len(NAMES))]

    # Expressions

    def atom(self):
        return self.pick(self.name(), self.name(), CONSTANTS[self.choose(len(CONSTANTS))])

    def newline(self):
        """Something that may stand between tokens inside brackets."""
        if self.choose(6):
            return " "
        comment = self.pick("", "  # in a bracket ) ; :", " # é")
        return comment + self.line_end + " " * self.choose(5)

    def comma_list(self, depth, item=None):
        items = [(item or self.expression)(depth) for _ in range(1 + self.choose(3))]
        return ("," + self.newline()).join(items)

    def expression(self, depth=2):
        if depth <= 0:
            return self.atom()
        d = depth - 1
        e = self.expression
        kind = self.choose(28)
        if kind < 5:
            return self.atom()
        if kind >= 26:
            return self.flat(d) if depth == 2 else self.atom()
        if kind == 5:
            return f"{e(d)} {self.pick(*BINARY)} {e(0)}"
        if kind == 6:
            return f"({e(d)}{self.newline()}{self.pick(*BINARY)} {e(d)})"
        if kind == 7:
            return f"{e(0)} {self.pick(*COMPARE)} {e(0)}{self.maybe(' < ' + self.name(), 4)}"
        if kind == 8:
            return f"{e(0)} {self.pick('and', 'or')} {e(0)}{self.pick('', ' or ' + e(0))}"
        if kind == 9:
            return f"{self.pick('not ', '-', '~', '+')}{e(0)}"
        if kind == 10:
            return f"({e(d)} if {e(d)} else {e(d)})"
        if kind == 11:
            return f"{self.primary(d)}({self.arguments(d)})"
        if kind == 12:
            return f"{self.primary(d)}.{self.name()}"
        if kind == 13:
            return f"{self.primary(d)}[{self.subscript(d)}]"
        if kind == 14:
            return f"[{self.newline()}{self.comma_list(d)}{self.maybe(',')}]"
        if kind == 15:
            return f"({self.comma_list(d)},)"
        if kind == 16:
            return "{" + f"{e(d)}: {e(d)}, **{self.primary(0)}" + "}"
        if kind == 17:
            return "{" + self.comma_list(d) + "}"
        if kind == 18:
            return f"({self.name()} := {e(d)})"
        if kind == 19:
            return f"(lambda {self.pick('', 'a, *b, c=1, **d', 'x=(y := 2)')}: {e(d)})"
        if kind == 20:
            comprehension = f"{e(d)} for v{self.choose(3)}, *w in {e(0)}"
            condition = self.maybe(f" if {e(0)}")
            opened, closed = self.pick("[]", "()", "{}")
            return f"{opened}{comprehension}{condition}{closed}"
        if kind == 21:
            return "{" + f"{e(d)}: 1 for v in {e(0)} if v for u in v" + "}"
        if kind == 22:
            return self.pick("f'{a}'", "f'{x!r:>{b}} {{}}'", 'f"{a[\'k\']} {x:=+5}"', "f'{(q:=1)}'",
                             "rf'\\d{x}'", "f'''{\n a }'''".replace("\n", self.line_end),
                             "f'{lambda_}' '#'", "f'{x=}'")
        if kind == 23:
            return "'''two" + self.line_end + self.pick("", "  # no comment") + "lines'''"
        if kind == 24 and self.in_function:
            if self.is_async:
                return self.pick(f"(await {self.primary(0)})", "(yield)")
            return self.pick("(yield)", f"(yield {e(0)})", f"(yield from {e(0)})")
        return f"(*{self.primary(0)}, {e(d)})"

    def flat(self, depth):
        """Operators without brackets: how they bind is for the parser to know."""
        a, b, c = (self.pick(self.atom(), self.primary(depth)) for _ in range(3))
        return self.pick(
            f"{a} if {b} else {c}", f"{a} if {b} else lambda: {c}", f"not {a} if {b} else not {c}",
            f"lambda x: {a} if x else {b}", f"{a} or {b} and not {c}", f"not {a} in {b} == {c}",
            f"-{a} ** -{b}", f"{a} < {b} < {c}", f"{a} if {b} if {c} else {a} else {b}",
            f"({self.name()} := {a} if {b} else {c})", f"f({self.name()} := {a} or {b})",
            f"[{self.name()} := {a} if {b} else {c}, *{a} or {b}]", f"{a} is not {b} or {c} not in {a}",
            f"f(*{a} or {b}, **{a} if {b} else {c})", f"{a}[{b} if {c} else {a}:{b}, ::-{c}]",
        )

    def primary(self, depth):
        if depth <= 0 or self.choose(2):
            return self.name()
        return self.pick(
            f"{self.name()}.{self.name()}", f"({self.expression(depth - 1)})",
            f"{self.name()}[{self.expression(0)}]", f"{self.name()}()",
            f"self.{self.name()}.{self.name()}",
        )

    def arguments(self, depth):
        return self.pick(
            "", self.expression(depth), self.comma_list(depth), f"*{self.name()}, **{self.name()}",
            f"{self.expression(0)}, out={self.name()}", f"{self.newline()}k={self.expression(0)},",
            f"v for v in {self.expression(0)}",
        )

    def subscript(self, depth):
        return self.pick(self.expression(depth), ":", "1:", "::2", f"{self.name()}, :", "...")

    def target(self, depth=2):
        kind = self.choose(9)
        if kind < 4 or depth <= 0:
            return self.name()
        if kind == 4:
            return f"{self.primary(1)}.{self.name()}"
        if kind == 5:
            return f"{self.primary(1)}[{self.subscript(1)}]"
        if kind == 6:
            return f"({self.target(depth - 1)}, *{self.target(depth - 1)})"
        if kind == 7:
            return f"[{self.target(depth - 1)}, {self.target(depth - 1)}]"
        return f"({self.name()})"

    # Simple statements

    def simple(self):
        kind = self.choose(26)
        e = self.expression
        if kind < 4:
            return f"{self.target()} = {e()}"
        if kind == 4:
            return f"{self.target()} = {self.target()} = {e()}"
        if kind == 5:
            return f"{self.target()}, {self.target()} = {e(1)}, {e(1)}"
        if kind == 6:
            place = self.pick(self.name(), f"{self.primary(1)}.{self.name()}",
                              f"{self.primary(1)}[{self.subscript(1)}]")
            return f"{place} {self.pick(*AUGMENTED)} {e()}"
        if kind == 7:
            place = self.pick("n2", f"{self.primary(1)}.{self.name()}", "(n3)",
                              f"{self.primary(1)}[{e(0)}]")
            return f"{place}: {self.pick('int', e(1))}{self.maybe(' = ' + e())}"
        if kind == 8:
            return f"{self.primary(2)}.{self.pick('add_', 'append', 'mul_')}({self.arguments(1)})"
        if kind == 9:
            return e()
        if kind == 10:
            return self.pick("pass", "...", "'a string'", "0")
        if kind == 11:
            return f"assert {e()}{self.maybe(', ' + e(1))}"
        if kind == 12:
            return f"del {self.pick(self.name(), self.primary(1) + '.x', self.primary(1) + '[0]')}"
        if kind == 13:
            return f"raise{self.pick('', ' ' + e(1), ' ' + e(1) + ' from ' + e(0))}"
        if kind == 14:
            return self.pick("import os", "import os.path as p, sys", "from os import (path,\n sep)",
                             "from . import x as y", "from ..a import b").replace("\n", self.line_end)
        if kind == 15 and self.in_loop:
            return self.pick("break", "continue")
        if kind in (16, 17, 18, 19) and self.in_function:
            if self.is_async:  # a value cannot be returned where there is a yield
                return self.pick("return", f"return {e(1)}")
            return self.pick("return", f"return {e()}", f"return({e()})", f"return[{e(1)}]",
                             f"return {e(1)}, {e(0)}", f"return *{self.name()}, {e(0)}",
                             f"return -{e(0)}", f"return \\{self.line_end}   {e(1)}",
                             f"return {self.name()}", "return'text'")
        if kind == 20 and self.in_function and not self.is_async:
            return self.pick("yield", f"yield {e(1)}", f"{self.name()} = yield", f"x = yield {e(0)}",
                             f"self.{self.name()} = yield {e(0)}", f"yield from {e(0)}")
        if kind == 21 and self.is_async:
            return f"{self.pick('', 'x = ', 'self.x = ')}await {self.primary(1)}"
        if kind == 22 and self.in_function:
            return "global g0, g1"
        if kind == 23:
            return self.pick(f"print({e(1)})", f"match[{e(0)}] = 1", "type(x)", "case = match",
                             "exec('x')", "locals()", "x = vars()")
        return f"{self.name()} = {e()}"

    def line(self, indent):
        parts = [self.simple() for _ in range(1 + (self.choose(4) == 0) + (self.choose(9) == 0))]
        separator = self.pick("; ", ";", " ; ", ";\t")
        end = self.pick("", "", "", ";", " ;", "  # comment", "; # c ; x = 1", " " * 3, "\f")
        return indent + separator.join(parts) + end

    # Compound statements

    def body(self, indent, header):
        """On the header's line or below it."""
        if self.choose(6) == 0:
            return self.line(indent + header + ": ").rstrip() + self.line_end
        comment = self.pick("", "", "", "  # comment: with a colon", " ")
        text = indent + header + ":" + comment + self.line_end
        return text + self.block(indent + self.unit, is_new=True)

    def docstring(self, indent):
        return indent + self.pick('"doc"', "'''doc" + self.line_end + "doc'''", '"a" "b"',
                                  '"doc";', 'b"none"', 'f"none"') + self.line_end

    def parameters(self):
        return self.pick("", "self", "a", "self, x", "a, /, b, *, c=1", "*a, **b", "a=(z := 1), *b",
                         "a: int = 1, *, b: 'x'", "x," + self.newline() + "y", "a, b=[], *c, d, **e")

    def function(self, indent):
        is_async = self.choose(5) == 0
        text = "".join(
            f"{indent}@{self.pick('d', 'd(1)', 'd.e', 'torch.no_grad()', '(lambda f: f)')}"
            + self.line_end
            for _ in range(self.pick(0, 0, 0, 1, 2))
        )
        returns = self.pick("", "", " -> int", " -> 'x'")
        generic = ""
        if sys.version_info >= (3, 12):
            generic = self.pick("", "", "", "[T]", "[T: int, *Ts, **P]")
        name = self.pick("forward", "f", "g", "__init__", "é")
        header = f"{'async ' if is_async else ''}def {name}{generic}({self.parameters()}){returns}"
        return text + self.suite(
            indent, header, in_function=True, in_loop=False, is_async=is_async
        )

    def klass(self, indent):
        text = self.maybe(f"{indent}@d{self.line_end}", 4)
        bases = self.pick("", "()", "(B)", "(B, metaclass=M)", "(*bs, **ks)", "(f(x))")
        header = f"class {self.pick('A', 'Net', 'é')}{bases}"
        return text + self.suite(indent, header, in_function=False, in_loop=False, is_async=False)

    def condition(self):
        return self.pick(
            self.expression(), self.expression(1), f"({self.expression(1)})", "1" , "not a",
            f"x if {self.expression(0)} else y", f"(y := {self.expression(1)})", "lambda: x",
            f"a \\{self.line_end} and b", "True",
        )

    def loop(self, indent):
        if self.choose(3) == 0:
            header = f"while {self.condition()}"
        else:
            prefix = "async " if self.is_async and self.choose(3) == 0 else ""
            what = self.pick(self.expression(1), f"{self.expression(0)}, {self.expression(0)}",
                             f"*{self.name()}, {self.name()}", "range(3)", f"({self.expression(1)})")
            target = self.pick(self.target(), self.target(), "i, *j", "(i, j)", "i,")
            header = f"{prefix}for {target} in {what}"
        return self.with_else(indent, self.suite(indent, header, in_loop=True))

    def handlers(self, indent):
        text = ""
        stars = sys.version_info >= (3, 11) and self.choose(5) == 0
        for _ in range(1 + self.choose(2)):
            caught = self.pick("E", "(E, F)", "E.x", "f()")
            name = self.pick("", "", " as e", " as é")
            state = {"in_loop": False, "in_function": False} if stars else {}
            text += self.suite(indent, f"except{'*' if stars else ''} {caught}{name}", **state)
        if not stars and self.choose(3) == 0:
            text += self.suite(indent, "except")
        return text

    def managed(self, indent):
        item = lambda: self.expression(1) + self.pick("", "", f" as {self.target(1)}")  # noqa: E731
        inside = self.pick(item(), f"{item()}, {item()}", f"({item()},{self.newline()}{item()})",
                           f"({self.expression(1)})", f"({item()}, {item()},)", "(a, b) as c")
        prefix = "async " if self.is_async and self.choose(3) == 0 else ""
        return self.suite(indent, f"{prefix}with {inside}")

    def pattern(self, depth=2):
        if depth <= 0:
            return self.pick("1", "None", "'s'", "-1", "a.b", "_", f"c{self.choose(99)}")
        d = depth - 1
        return self.pick(
            self.pattern(0), f"[{self.pattern(d)}, *_]", f"({self.pattern(d)}, )", "1 | 2 | 'x'",
            "{'k': " + self.pattern(d) + "}", f"A({self.pattern(d)}, k=1)", "int() as i",
            "[*rest]", "{**more}", f"({self.pattern(d)})", "1 + 2j",
        )

    def choice(self, indent):
        subject = self.pick(self.expression(1), f"{self.name()},", "*a, b", "(x)", "-x", "match")
        text = f"{indent}match {subject}:{self.line_end}"
        inner = indent + self.unit
        for _ in range(1 + self.choose(2)):
            guard = self.maybe(f" if {self.condition()}", 3)
            text += self.suite(inner, f"case {self.pattern()}{guard}")
        return text

    def statement(self, indent):
        self.left -= 1
        kind = self.choose(22)
        if self.depth >= 5 or kind < 10:
            return self.line(indent) + self.line_end
        if kind < 13:
            return self.conditional(indent)
        if kind < 15:
            return self.loop(indent)
        if kind == 15:
            return self.attempt(indent)
        if kind == 16:
            return self.managed(indent)
        if kind == 17:
            return self.klass(indent)
        if kind == 18 and sys.version_info >= (3, 10):
            return self.choice(indent)
        return self.function(indent)

    def filler(self, indent):
        return self.pick("", "", "", "", "# comment", indent + "# comment", "   ", "\f", "\t#") if (
            self.choose(3) == 0
        ) else None

    def block(self, indent, is_new=False):
        text = self.docstring(indent) if is_new and self.choose(6) == 0 else ""
        for _ in range(1 + self.choose(4)):
            line = self.filler(indent)
            if line is not None:
                text += line + self.line_end
            text += self.statement(indent)
            if self.left <= 0:
                break
        return text

    def whole(self):
        text = self.pick("", "", "", "#!/bin/python" + self.line_end, "\ufeff",
                         "# -*- coding: utf-8 -*-" + self.line_end, self.line_end,
                         "'''doc'''" + self.line_end)
        if self.choose(6) == 0:
            text += "from __future__ import annotations" + self.pick(self.line_end, "; x = 1\n")
        for _ in range(1 + self.choose(5)):
            text += self.block("")
        if self.choose(6) == 0:
            text = text.rstrip("\r\n \t\f\\")
        return text


def program(choose):
    return Program(choose).whole()
