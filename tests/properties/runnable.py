"""Random programs that run: every way to bind, rebind, skip and unbind a few names.

`program(choose)` gives the text of a module with one function, `main`. Its names hold `Value`s,
which know what they were made from; what a program does is settled by `choose` while it runs, too:
`namespace(choose)` gives the globals to run it in.
"""

import types

from tests.properties.statements import Statements

NAMES = ["a", "b", "c", "d"]


class Failure(Exception):
    pass


class Exhausted(BaseException):
    """A program has run for long enough."""


class Value:
    """Knows its parents; its truth and its length are chosen when they are asked."""

    def __init__(self, choose, parents=()):
        self.choose = choose
        self.parents = parents

    def __bool__(self):
        return self.choose(2) == 0

    def __iter__(self):
        return (Value(self.choose, (self,)) for _ in range(self.choose(4)))

    def __add__(self, other):
        return Value(self.choose, (self, other))

    __iadd__ = __sub__ = __add__

    def __enter__(self):
        return Value(self.choose, (self,))

    def __exit__(self, *exception):
        return self.choose(2) == 0 and exception[0] not in (None, Exhausted, GeneratorExit)


def namespace(choose):
    """What a program finds: `mix` makes a value, `risk` may raise, `pair` gives two values.

    `things` is to be put into sys.modules."""
    fuel = [400]

    def mix(*parents):
        fuel[0] -= 1
        if fuel[0] < 0:
            raise Exhausted
        return Value(choose, parents)

    def risk(*parents):
        value = mix(*parents)
        if choose(4) == 0:
            raise Failure
        return value

    def pair(*parents):
        return mix(*parents), mix(*parents)

    def blend(*parents):
        """A value made of these directly, until a site has seen it."""
        value = mix(*parents)
        value.is_new = True
        return value

    def call(function):
        try:
            return list(function() or ())
        except TypeError:
            return None

    module = types.ModuleType("runnable_values")
    module.thing = mix()
    return {"mix": mix, "blend": blend, "risk": risk, "pair": pair, "call": call,
            "Failure": Failure, "things": module}


class Program(Statements):
    def __init__(self, choose):
        super().__init__(choose)
        self.left = 12 + choose(30)
        self.in_loop = self.is_nested = False
        self.inner_count = 0

    def name(self):
        return self.pick(*NAMES)

    def call(self):
        arguments = [self.name() for _ in range(1 + self.choose(2))]
        if self.choose(6) == 0:
            arguments[self.choose(len(arguments))] = f"({self.name()} := mix())"
        return f"{self.pick('blend', 'blend', 'risk')}({', '.join(arguments)})"

    def plain(self):
        return f"{self.pick('mix', 'risk')}({self.pick('', self.name())})"

    def expression(self):
        kind = self.choose(16)
        walrus = f"({self.name()} := {self.plain()})"
        if kind == 0:
            return f"{self.name()} {self.pick('and', 'or')} {walrus}"
        if kind == 1:
            return f"{walrus} if {self.name()} else {self.name()}"
        if kind == 2:
            return f"[{walrus} for i in {self.name()}]".replace("[", "mix(*[").replace("]", "])")
        if kind == 3:
            return f"mix(*({walrus} for i in {self.name()} if {self.name()}))"
        if kind == 4:
            return f"(lambda: {self.call()})()"
        if kind == 5:
            return f"mix(*[i for i in {self.name()}], *[{self.name()} for {self.name()} in mix()])"
        if kind == 6:
            return f"{self.name()} + {self.pick(self.name(), walrus)}"
        if kind == 7:
            return self.name()
        return self.call()

    def simple(self):
        kind = self.choose(24)
        name = self.name()
        if kind < 9:
            return f"{name} = {self.expression()}"
        if kind == 9:
            return f"{name}, {self.name()} = pair({self.name()})"
        if kind == 10:
            return f"{name} = {self.name()} = {self.expression()}"
        if kind == 11:
            return f"{name} += {self.expression()}"
        if kind == 12:
            return f"del {name}"
        if kind == 13:
            return f"import things as {name}"
        if kind == 14:
            return f"{name}: int = {self.expression()}"
        if kind == 15:
            return self.pick("raise Failure", "risk()", f"risk({name})")
        if kind == 16:
            return self.pick("break", "continue") if self.in_loop else "pass"
        if kind == 17:
            return f"return {self.expression()}"
        if kind == 18:
            return f"{self.pick('', name + ' = ')}yield {self.expression()}"
        if kind == 19:
            return f"{name}.{self.pick('x', 'y')} = {self.name()}"
        if kind == 20:
            return f"assert {self.expression()}"
        if kind == 21:
            return f"{name}: int"
        if kind == 22:
            return f"[*{name}] = {self.name()}; {name} = mix(*{name})"
        return self.expression()

    def condition(self):
        return self.pick(self.name(), self.expression(), f"({self.name()} := {self.plain()})")

    def body(self, indent, header):
        return f"{indent}{header}:\n" + self.block(indent + " ")

    def loop(self, indent):
        header = self.pick(
            f"while {self.condition()}", f"for {self.name()} in {self.name()}",
            f"for {self.name()}, {self.name()} in [pair(), pair()]", f"for i in {self.condition()}",
        )
        text = self.suite(indent, header, in_loop=True)
        # A function or class is always true: only `mix` ends such a loop.
        return self.with_else(indent, text.replace(":\n", f":\n{indent} mix()\n", 1))

    def handlers(self, indent):
        text = self.suite(indent, "except " + self.pick(
            f"Failure as {self.name()}", "Failure", f"({self.name()} := Failure)",
            f"({self.name()} := KeyError)",
        ))
        if self.choose(2):
            text += self.suite(indent, f"except Exception{self.pick('', ' as ' + self.name())}")
        return text

    def managed(self, indent):
        items = [f"mix({self.name()}){self.pick('', f' as {self.name()}')}" for _ in range(1 + self.choose(2))]
        return self.suite(indent, f"with {', '.join(items)}")

    def choice(self, indent):
        subject = self.pick(f"{self.name()}, {self.name()}", self.name(), "pair()")
        text = f"{indent}match {subject}:\n"
        for _ in range(1 + self.choose(3)):
            names = self.name(), self.name()
            pattern = self.pick(f"[{names[0]}, *_]", f"object(parents={names[0]})", "[1, 2]",
                                f"({names[0]}, 1) | (1, {names[0]})", f"[i, {names[0]}] as j")
            text += self.suite(indent + " ", f"case {pattern}{self.pick('', f' if {self.condition()}')}")
        if self.choose(2):
            text += self.suite(indent + " ", f"case {self.name()}")
        return text

    def inner(self, indent):
        """A nested function that may rebind, and is called at once or later."""
        self.inner_count += 1
        name = f"inner{self.inner_count}"
        rebound = self.name()
        before = self.is_nested, self.in_loop
        self.is_nested, self.in_loop = True, False
        self.depth += 1
        text = f"{indent}def {name}():\n"
        text += f"{indent} nonlocal {rebound}\n" if self.choose(2) else ""
        text += f"{indent} {rebound} = mix()\n" + self.block(indent + " ")
        self.depth -= 1
        self.is_nested, self.in_loop = before
        text += f"{indent}call({name})\n" if self.choose(2) else ""
        return text + self.suite(indent, f"if mix({self.name()})") + f"{indent}call({name})\n"

    def statement(self, indent):
        self.left -= 1
        kind = self.choose(24)
        if self.depth >= 5 or kind < 12:
            return f"{indent}{self.simple()}\n"
        if kind < 15:
            return self.conditional(indent)
        if kind < 17:
            return self.loop(indent)
        if kind == 17:
            return self.attempt(indent)
        if kind in (18, 19):
            return self.managed(indent)
        if kind == 20:
            return self.choice(indent)
        if kind == 21 and not self.is_nested:
            return self.inner(indent)
        if kind == 22:
            return f"{indent}{self.pick('class', 'def')} {self.name()}(): {self.name()} = 1\n"
        return f"{indent}{self.simple()}; {self.simple()}\n"

    def block(self, indent):
        text = ""
        for _ in range(1 + self.choose(4)):
            text += self.statement(indent)
            if self.left <= 0:
                break
        return text

    def whole(self):
        text = "def main(a, b):\n c = mix(a)\n"
        while self.left > 0:
            text += self.statement(" ")
        return text + " d = mix(a, b, c)\n return mix(a, b, c, d)\n"


def program(choose):
    return Program(choose).whole()
