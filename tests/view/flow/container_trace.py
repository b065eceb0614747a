"""A recording of many small functions in one program, and what its events and edges say."""

import json
import subprocess

from tests.commands import hostile
from tests.support import pages, warm


class Trace:
    """A trace, with its events and edges, and the lines of the program."""

    def __init__(self, path, lines):
        self.path = path
        self.lines = lines
        self.events = {event["seq"]: event for event in self.ask("select * from events")}
        self.sources = {}
        for edge in self.ask("select * from edges"):
            self.sources.setdefault(edge["target"], []).append(edge["source"])

    def ask(self, query):
        run = hostile.run("sql", "--json", self.path, query)
        assert run.returncode == 0, run.stderr
        return [json.loads(line) for line in run.stdout.splitlines()]

    def named(self, function, name):
        """The events that gave the name a tensor, in their order."""
        return [
            event
            for event in self.events.values()
            if (event["function"], event["name"], event["kind"]) == (function, name, "assign")
            and event["value_kind"] == "tensor"
            and not event["path"]
        ]

    def reached(self, event, ends):
        """Those of the events `ends` that the event was made from, without what is behind them."""
        found, stack, seen = set(), [event], set()
        while stack:
            seq = stack.pop()
            if seq in ends:
                found.add(seq)
            elif seq not in seen:
                seen.add(seq)
                stack.extend(self.sources.get(seq, []))
        return found


def record(folder, prelude, ways):
    """The recording of a function `way_NAME` for each NAME, BODY; each is called once and returns `r`."""
    text = prelude
    for name, body in ways:
        lines = [*body.split("\n"), "return r"]
        text += f"def way_{name}():\n" + "".join(f"    {line}\n" for line in lines)
    text += "".join(f"way_{name}()\n" for name, _ in ways)
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        [warm.python(), "-m", "monitorch", "run", "-q", "-o", "run.mtrace", "program.py"],
        cwd=folder,
        env=pages.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return Trace(folder / "run.mtrace", text.split("\n"))
