"""Values that were put into containers, and are read again in any way: the edges in SQL lead to exactly those,
and `why` names the line of the one that is NaN. What is right is known by how each program is made."""

import json
import subprocess

import pytest

from tests.commands import container_ways, hostile
from tests.support import pages, warm

pytest.importorskip("torch")


class Trace:
    """A recording of all programs, with its events and edges."""

    def __init__(self, path):
        self.path = path
        self.events = {event["seq"]: event for event in self.ask("select * from events")}
        self.sources = {}
        for edge in self.ask("select * from edges"):
            self.sources.setdefault(edge["target"], []).append(edge["source"])

    def ask(self, query):
        run = hostile.run("sql", "--json", self.path, query)
        assert run.returncode == 0, run.stderr
        return [json.loads(line) for line in run.stdout.splitlines()]

    def named(self, function, name):
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


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("containers")
    (folder / "program.py").write_text(container_ways.program())
    done = subprocess.run(
        [warm.python(), "-m", "monitorch", "run", "-q", "-o", "run.mtrace", "program.py"],
        cwd=folder,
        env=pages.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return Trace(folder / "run.mtrace")


@pytest.mark.parametrize(
    "name, items",
    [(name, items) for name, _, items in container_ways.WAYS],
    ids=[way[0] for way in container_ways.WAYS],
)
def test_items_are_the_values_that_were_put_in(trace, name, items):
    function = f"way_{name}"
    result = trace.named(function, "r")[-1]
    made = {trace.named(function, item)[0]["seq"]: item for item in "abc"}
    reached = trace.reached(result["seq"], made)
    assert "".join(sorted(made[seq] for seq in reached)) == items

    run = hostile.run("why", trace.path, f"#{result['seq']}")
    first = run.stdout.split("\n", 1)[0]
    line = trace.named(function, "b")[0]["line"]
    wanted = f":{line}: NaN made here: b: log of a negative number" if "b" in items else ": fine: r"
    assert wanted in first, run.stdout
