"""A bug of a port: what stands there instead, and what is to be named."""

import dataclasses


@dataclasses.dataclass
class Bug:
    """The text `old` of the port, which stands there once, is `new`. To be named is one of the lines that `new`
    changed, or that hold `at`, or `also`; or a weight whose name ends in `weight`."""

    name: str
    old: str
    new: str
    at: str = ""
    also: str = ""
    weight: str = ""

    def text(self, port):
        assert port.count(self.old) == 1, (self.name, port.count(self.old))
        return port.replace(self.old, self.new)

    def lines(self, port):
        """The numbers of the lines that may be named."""
        text = self.text(port).lstrip("\n")
        start = port.lstrip("\n").index(self.old)
        first = text.count("\n", 0, start) + 1
        changed = range(first, first + len(self.new.strip("\n").split("\n"))) if self.new else []
        wanted = set() if self.at else set(changed)
        for n, line in enumerate(text.split("\n"), 1):
            if any(part and part in line for part in (self.at, self.also)):
                wanted.add(n)
        return wanted
