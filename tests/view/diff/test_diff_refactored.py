"""`monitorch diff` of a program and what became of it when it was tidied up: the same values are no
divergence, and a bug that came in with it is found at its line."""

import os

import pytest

from tests.support import recording, viewer

torch = pytest.importorskip("torch")

MODEL = """
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.up = torch.nn.Linear(8, 16)

    def forward(self, x, scale):
        h = self.up(self.norm(x))
        h = torch.relu(h)
        return x + scale * h[:, :8]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block() for _ in range(2)])

    def forward(self, x, past=None):
        start = past.shape[0] if past is not None else 0
        if past is not None:
            x = x + past.mean()
            x = x * 1.5
        kept = []
        for number, block in enumerate(self.blocks):
            x = block(x, number + 1.0)
            kept.append(x)
        return x + start


def main():
    torch.manual_seed(0)
    net = Net()
    past = None
    for step in range(3):
        x = torch.randn(4, 8)
        out = net(x, past)
        past = out * 2
        net.zero_grad()
    last = past.sum()
    return last


main()
"""

LOOP = """    for step in range(3):
        x = torch.randn(4, 8)
        out = net(x, past)
        past = out * 2
        net.zero_grad()
"""
CALLS = """        for number, block in enumerate(self.blocks):
            x = block(x, number + 1.0)
            kept.append(x)
"""
TAIL = """        h = self.up(self.norm(x))
        h = torch.relu(h)
        return x + scale * h[:, :8]
"""
START = "        start = past.shape[0] if past is not None else 0\n"

INTO_FUNCTION = [
    (LOOP, "    past = train(net, past)\n"),
    ("def main():\n", "def train(net, past):\n" + LOOP + "    return past\n\n\ndef main():\n"),
]
UNROLLED = [
    (
        CALLS,
        """        x = self.blocks[0](x, 1.0)
        kept.append(x)
        x = self.blocks[1](x, 2.0)
        kept.append(x)
""",
    )
]
INTO_METHOD = [
    (
        TAIL,
        """        return x + scale * self.grow(x)

    def grow(self, x):
        h = self.up(self.norm(x))
        h = torch.relu(h)
        return h[:, :8]
""",
    )
]


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Gives the trace of MODEL with texts replaced, and its text."""
    folder = tmp_path_factory.mktemp("refactored")
    known = {}

    def of(changes=(), then=()):
        source = MODEL
        for old, new in [*changes, *then]:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        if source not in known:
            home = os.getcwd()
            known[source] = folder / f"{len(known)}.mtrace"
            (folder / "program.py").write_text(source.lstrip("\n"))
            os.chdir(folder)
            try:
                recording.trace_of(source, known[source])
            finally:
                os.chdir(home)
        return known[source], source

    return of


def diff(*words):
    return viewer.run("diff", *words)


def line_of(text, source):
    lines = [n for n, line in enumerate(source.lstrip("\n").split("\n"), 1) if text in line]
    assert len(lines) == 1, (text, lines)
    return lines[0]


BRANCH = [
    (
        START,
        """        if past is None:
            start = 0
        else:
            start = past.shape[0]
""",
    )
]
NEGATED = [
    (
        """        if past is not None:
            x = x + past.mean()
            x = x * 1.5
""",
        """        if past is None:
            pass
        else:
            x = x + past.mean()
            x = x * 1.5
""",
    )
]
ARMS = """    if last > 0:
        name = last + 1
        other = name * 2
    else:
        name = last - 1
    return last
"""
FILLED = [
    (
        "    last = past.sum()\n",
        "    parts = [grow(row) for row in past]\n    last = sum(parts)\n",
    ),
    ("def main():\n", "def grow(row):\n    total = row.sum()\n    return total\n\n\ndef main():\n"),
]
LOOPED = [
    (
        "    parts = [grow(row) for row in past]\n",
        "    parts = []\n    for row in past:\n        parts.append(grow(row))\n",
    )
]
WITH_ARMS = [("    return last\n", ARMS)]
TURNED = [
    (
        ARMS,
        """    if not last > 0:
        name = last - 1
    else:
        name = last + 1
        other = name * 2
    return last
""",
    )
]
RENAMED = [
    ("class Block(", "class Layer("),
    ("[Block() for", "[Layer() for"),
    ("class Net(", "class Encoder("),
    ("net = Net()", "net = Encoder()"),
]
# Variables that are written more than once, in classes under another name.
RENAMED_VARIABLES = RENAMED + [
    (
        TAIL,
        """        up = self.up(self.norm(x))
        up = torch.relu(up)
        return x + scale * up[:, :8]
""",
    ),
    (
        CALLS,
        """        for number, layer in enumerate(self.blocks):
            x = layer(x, number + 1.0)
            kept.append(x)
""",
    ),
]

REFACTORINGS = {
    "into a function": INTO_FUNCTION,
    "into a method": INTO_METHOD,
    "unrolled": UNROLLED,
    "an expression as a branch": BRANCH,
    "a negated condition": NEGATED,
    "renamed classes": RENAMED,
    "renamed variables": RENAMED_VARIABLES,
    "all": INTO_FUNCTION + INTO_METHOD + UNROLLED,
}


@pytest.mark.parametrize("changes", REFACTORINGS.values(), ids=REFACTORINGS)
def test_what_computes_the_same_is_equal(record, changes):
    before, _ = record()
    after, _ = record(changes)
    for words in ((before, after), (after, before)):
        run = diff(*words)
        assert (run.returncode, run.stderr) == (0, ""), run.stdout
        assert run.stdout.startswith("equal: ")


@pytest.mark.parametrize(
    "changes, bug, line",
    [
        (INTO_FUNCTION, ("past = out * 2", "past = out * 3"), "past = out * 3"),
        (INTO_FUNCTION, ("return x + start", "return x - start"), "return x - start"),
        (INTO_METHOD, ("torch.relu(h)", "torch.tanh(h)"), "self.grow(x)"),
        (UNROLLED, ("return x + start", "return x - start"), "return x - start"),
        (BRANCH, ("start = past.shape[0]", "start = past.shape[1]"), "start = past.shape[1]"),
        (NEGATED, ("x = x * 1.5", "x = x * 1.6"), "x = x * 1.6"),
        (RENAMED, ("torch.relu(h)", "torch.tanh(h)"), "torch.tanh(h)"),
        (RENAMED_VARIABLES, ("torch.relu(up)", "torch.tanh(up)"), "torch.tanh(up)"),
    ],
)
def test_a_bug_that_came_with_it_is_found(record, changes, bug, line):
    before, _ = record()
    after, source = record(changes, [bug])
    run = diff(before, after)
    assert run.returncode == 1
    assert run.stdout.startswith(f"program.py:{line_of(line, source)}: first divergence: ")
    assert "control flow" not in run.stdout


def test_an_arm_of_nothing_is_told_at_its_line(record):
    changes = [("    return last\n", "    if last > 1e9:\n        pass\n    return last\n")]
    before, source = record(changes)
    after, _ = record(changes, [("last > 1e9", "last < 1e9")])
    assert diff(before, after).stdout.startswith(
        f"program.py:{line_of('if last', source)}: first divergence: control flow: B took the if"
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_arms_that_were_turned_round(record, sign):
    scaled = [("last = past.sum()", f"last = {sign} * past.sum().abs()")]
    before, _ = record(WITH_ARMS, scaled)
    after, source = record(WITH_ARMS, [*scaled, *TURNED])
    assert diff(before, after).stdout.startswith("equal: ")
    assert diff(after, before).stdout.startswith("equal: ")
    after, source = record(WITH_ARMS, [*scaled, *TURNED, ("if not last", "if last")])
    line = line_of("name = last - 1" if sign == 1 else "name = last + 1", source)
    assert diff(before, after).stdout.startswith(f"program.py:{line}: first divergence: name: ")


def test_a_comprehension_that_became_a_loop(record):
    before, _ = record(FILLED)
    after, _ = record(FILLED, LOOPED)
    assert diff(before, after).stdout.startswith("equal: ")
    assert diff(after, before).stdout.startswith("equal: ")
    after, source = record(FILLED, [*LOOPED, ("total = row.sum()", "total = row.mean()")])
    assert diff(before, after).stdout.startswith(
        f"program.py:{line_of('total = row.mean()', source)}: first divergence: total: "
    )
