"""What both makers of random programs know of Python: how choices are made, and statements with a body.

A maker says how a `block` of statements is laid out below a header, and what stands in a `condition`, and which
`handlers` a `try` has.
"""


class Statements:
    def __init__(self, choose):
        self.choose = choose
        self.depth = 0

    def pick(self, *items):
        return items[self.choose(len(items))]

    def suite(self, indent, header, **state):
        """The header with its body; inside of it the attributes in `state` have these values."""
        before = {key: getattr(self, key) for key in state}
        vars(self).update(state)
        self.depth += 1
        text = self.body(indent, header)
        self.depth -= 1
        vars(self).update(before)
        return text

    def conditional(self, indent):
        text = self.suite(indent, f"if {self.condition()}")
        for _ in range(self.pick(0, 0, 1, 2)):
            text += self.suite(indent, f"elif {self.condition()}")
        return text + (self.suite(indent, "else") if self.choose(2) else "")

    def with_else(self, indent, text):
        """The text, and sometimes an `else` behind it."""
        return text + (self.suite(indent, "else") if self.choose(3) == 0 else "")

    def attempt(self, indent):
        text = self.suite(indent, "try")
        has_handlers = self.choose(4) != 0
        if has_handlers:
            text = self.with_else(indent, text + self.handlers(indent))
        if not has_handlers or self.choose(2):
            text += self.suite(indent, "finally")
        return text
