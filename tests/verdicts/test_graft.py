"""Grafts: ports with several faults, each of which is named in one run, and nothing else. A reference grafted
into itself is equal, and a line whose input could not be replaced is not blamed."""

import itertools
import json
import random

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

BASE = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
WIDTH, HEADS, LENGTH = 32, 4, 12


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    turned = torch.cat((-b, a), -1)
    return x * cos + turned * sin


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(WIDTH) + 0.5)

    def forward(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        return x * scale * self.weight


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), -1e9).triu(1))

    def forward(self, x, cos, sin):
        n, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q = q.view(n, t, HEADS, -1).transpose(1, 2)
        k = k.view(n, t, HEADS, -1).transpose(1, 2)
        v = v.view(n, t, HEADS, -1).transpose(1, 2)
        q = rotate(q, cos, sin)
        k = rotate(k, cos, sin)
        scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        scores = scores + self.mask
        weights = scores.softmax(-1)
        y = weights @ v
        y = y.transpose(1, 2).reshape(n, t, c)
        return self.out(y)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Norm(), Norm()
        self.attention = Attention()
        self.up, self.down = nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.first(x), cos, sin)
        h = self.up(self.second(x))
        h = F.gelu(h)
        h = self.down(h)
        x = x + h
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.norm = Norm()

    def forward(self, ids):
        places = torch.arange(LENGTH)[:, None]
        rates = 10000 ** (-torch.arange(4) / 4)
        angles = (places * rates).repeat(1, 2)
        cos, sin = angles.cos(), angles.sin()
        x = self.table(ids)
        seen = []
        for block in self.blocks:
            x = block(x, cos, sin)
            seen.append(x)
        pooled = torch.zeros(2, WIDTH)
        pooled += x[:, -1]
        pooled[0] = pooled[0] * 2
        x = self.norm(x)
        logits = x @ self.table.weight.T
        return logits, pooled


net = Net()
ids = torch.randint(50, (2, LENGTH))
logits, pooled = net(ids)
loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten())
loss.backward()
"""

# A fault at one line each.
BUGS = {
    "turned": ("(-b, a)", "(b, a)"),
    "eps": ("1e-5", "1e-3"),
    "order": ("q, k, v = self.qkv(x)", "k, q, v = self.qkv(x)"),
    "heads": ("v = v.view(n, t, HEADS, -1).transpose(1, 2)", "v = v.reshape(n, HEADS, t, -1)"),
    "no rope on k": ("k = rotate(k, cos, sin)", "k = rotate(k, cos, -sin)"),
    "scale": ("(WIDTH // HEADS) ** 0.5", "WIDTH**0.5"),
    "mask": ("self.mask\n", "self.mask * 0\n"),
    "axis": ("scores.softmax(-1)", "scores.softmax(-2)"),
    "transpose": ("y = y.transpose(1, 2).reshape", "y = y.reshape"),
    "gelu": ("F.gelu(h)", "F.gelu(h, approximate='tanh')"),
    "residual": ("x = x + h\n", "x = x + 0.99 * h\n"),
    "theta": ("10000 **", "9000 **"),
    "in place": ("pooled += x[:, -1]", "pooled += x[:, 0]"),
    "an item": ("pooled[0] * 2", "pooled[1] * 2"),
    "cosine": ("angles.cos(), angles.sin()", "angles.sin(), angles.cos()"),
    "loss": ("F.cross_entropy(logits.flatten(0, 1), ids", "F.cross_entropy(logits.flatten(0, 1) * 1.1, ids"),
}

# Held back until the first program's were found: a recurrence, a cache, loaded weights, numbers, training.
TRAINED = """
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)


def load(net, state):
    own = net.state_dict()
    for name, value in state.items():
        own[name].copy_(value)
    weights = net.state_dict()
    return weights


class Cell(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.x = nn.Linear(size, 4 * size)
        self.h = nn.Linear(size, 4 * size, bias=False)

    def forward(self, x, state):
        h, c = state
        gates = self.x(x) + self.h(h)
        i, f, g, o = gates.chunk(4, -1)
        f = torch.sigmoid(f + 1.0)
        i = torch.sigmoid(i)
        c = f * c + i * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.stem = nn.Conv1d(3, size, 3, padding=1)
        self.cell = Cell(size)
        self.head = nn.Linear(size, 5)

    def forward(self, x):
        temperature = 0.7
        x = F.relu(self.stem(x))
        x = x.permute(2, 0, 1)
        n = x.shape[1]
        cache = torch.zeros(x.shape[0], n, x.shape[2])
        state = (torch.zeros(n, x.shape[2]), torch.zeros(n, x.shape[2]))
        for t in range(x.shape[0]):
            state = self.cell(x[t], state)
            cache[t] = state[0]
        last = cache[-1]
        mean = cache.mean(0)
        pooled = last + mean
        logits = self.head(pooled) / temperature
        return logits


net = Net(8)
state = {k: torch.randn_like(v) * 0.3 for k, v in net.state_dict().items()}
with torch.no_grad():
    weights = load(net, state)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(3, 4, 3, 6)
labels = torch.randint(5, (3, 4))
for step in range(3):
    logits = net(data[step])
    loss = F.cross_entropy(logits, labels[step])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

TRAINED_BUGS = {
    "weight": ("own[name].copy_(value)", "own[name].copy_(value.flip(0))"),
    "temperature": ("temperature = 0.7", "temperature = 0.8"),
    "forget": ("f + 1.0", "f"),
    "relu": ("F.relu(self.stem(x))", "F.leaky_relu(self.stem(x))"),
    "permute": ("x.permute(2, 0, 1)", "x.flip(2).permute(2, 0, 1)"),
    "gates": ("i, f, g, o =", "f, i, g, o ="),
    "cachewrite": ("cache[t] = state[0]", "cache[t] = state[1]"),
    "last": ("cache[-1]", "cache[0]"),
    "mean": ("cache.mean(0)", "cache.amax(0)"),
    "label": ("labels[step])", "labels[step - 1])"),
    "lr": ("lr=0.1", "lr=0.2"),
    "cell": ("torch.tanh(g)", "torch.tanh(g) * 0.9"),
}


def line_of(old, text=BASE):
    assert text.count(old) == 1, old
    return 1 + text[: text.index(old)].count("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graft")
    (folder / "prog.py").write_text(BASE)
    run(folder, "-o", "ref.mtrace", "--record", "values=all")
    return folder


def run(folder, *options):
    done = forked_runs.run(folder, ["monitorch", "run", "-q", *options, "prog.py"])
    assert done.code == 0, done.output
    return done.output


def find_own(folder, edits, text=BASE, reference="ref.mtrace"):
    """The lines that the graft of the text with these edits has as its own."""
    for old, new in edits:
        text = text.replace(old, new)
    (folder / "prog.py").write_text(text)
    run(folder, "--graft", reference, "--each")
    done = viewer.run("diff", "--json", folder / reference, folder / "run.mtrace")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    own = [r["line"] for r in records if r["record"] == "difference" and r["class"] == "own"]
    return list(dict.fromkeys(own))


def test_the_reference_itself_is_equal(folder):
    assert find_own(folder, ()) == []


QUICK = ("eps", "heads", "axis", "in place", "an item", "theta")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in BUGS]
)
def test_one_bug(folder, name):
    assert find_own(folder, [BUGS[name]]) == [line_of(BUGS[name][0])]


TRIPLES = random.Random(1).sample(list(itertools.combinations(BUGS, 3)), 8)


@pytest.mark.parametrize(
    "names",
    [pytest.param(names, marks=pytest.mark.slow if i >= 4 else ()) for i, names in enumerate(TRIPLES)],
    ids="+".join,
)
def test_three_bugs(folder, names):
    assert sorted(find_own(folder, [BUGS[name] for name in names])) == sorted({line_of(BUGS[n][0]) for n in names})


@pytest.fixture(scope="module")
def trained(folder):
    (folder / "prog.py").write_text(TRAINED)
    run(folder, "-o", "trained.mtrace", "--record", "values=all")
    return "trained.mtrace"


def test_a_training_is_equal(folder, trained):
    assert find_own(folder, (), TRAINED, trained) == []


QUICK_TRAINED = ("weight", "temperature", "cachewrite", "label", "lr")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_TRAINED else pytest.mark.slow)
        for name in TRAINED_BUGS
    ],
)
def test_one_bug_of_a_training(folder, trained, name):
    """A constructor's argument that only the next step shows, too; and a number, which no graft replaces,
    has what it differs by for itself."""
    old, new = TRAINED_BUGS[name]
    assert find_own(folder, [(old, new)], TRAINED, trained) == [line_of(old, TRAINED)]


def test_one_line_alone(folder):
    """What the fault at that line does further on is gone; the other one is inherited as ever."""
    edits = [BUGS["axis"], BUGS["gelu"]]
    text = BASE
    for old, new in edits:
        text = text.replace(old, new)
    (folder / "prog.py").write_text(text)
    place = f"prog.py:{line_of(BUGS['axis'][0])}"
    run(folder, "--graft", "ref.mtrace", "--at", place)
    done = viewer.run("diff", "--json", folder / "ref.mtrace", folder / "run.mtrace")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    found = {(r["line"], r["class"]) for r in records if r["record"] == "difference"}
    assert (line_of(BUGS["axis"][0]), "own") in found
    assert (line_of(BUGS["gelu"][0]), "own") in found
    assert not any(line == line_of(BUGS["transpose"][0]) and kind == "own" for line, kind in found)
    assert any(kind == "inherited" for _, kind in found)


def test_renamed(folder):
    """A port with names of its own."""
    edits = [
        BUGS["eps"],
        BUGS["residual"],
        ("class Norm(nn.Module)", "class RMSNorm(nn.Module)"),
        ("Norm(), Norm()", "RMSNorm(), RMSNorm()"),
        ("self.norm = Norm()", "self.norm = RMSNorm()"),
        ("scores", "logits_of_keys"),
        ("weights", "shares"),
        ("def rotate", "def apply_rope"),
        ("= rotate(", "= apply_rope("),
    ]
    text = BASE
    for old, new in edits:
        text = text.replace(old, new)
    (folder / "port.py").write_text(text)
    options = ["--graft", "ref.mtrace", "--each", "--map", "prog.py=port.py", "--map", "Norm=RMSNorm"]
    done = forked_runs.run(folder, ["monitorch", "run", "-q", "-o", "port.mtrace", *options, "port.py"])
    assert done.code == 0, done.output
    done = viewer.run(
        "diff", "--json", "--map=prog.py=port.py", folder / "ref.mtrace", folder / "port.mtrace"
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    own = {r["line"] for r in records if r["record"] == "difference" and r["class"] == "own"}
    assert own == {line_of(BUGS[name][0]) for name in ("eps", "residual")}


def test_the_report_is_short(folder):
    edits = [BUGS["axis"], BUGS["gelu"], BUGS["theta"]]
    text = BASE
    for old, new in edits:
        text = text.replace(old, new)
    (folder / "prog.py").write_text(text)
    done = forked_runs.run(
        folder, ["monitorch", "run", "--graft", "ref.mtrace", "--each", "-o", "short.mtrace", "prog.py"]
    )
    lines = done.output.splitlines()
    assert len(lines) < 40
    start = lines.index("  own differences:")
    places = [f"prog.py:{line_of(BUGS[name][0])} " for name in ("theta", "axis", "gelu")]
    assert all(place in line for place, line in zip(places, lines[start + 1 :]))
    assert any("B is a graft" in line for line in lines)


@pytest.mark.parametrize(
    "options, code, message",
    [
        (["--graft", "ref.mtrace"], 2, "expected --each, or --at FILE:LINE"),
        (["--graft", "ref.mtrace", "--each", "--at", "prog.py:1"], 2, "expected --each, or --at"),
        (["--each"], 2, "--each needs --graft TRACE"),
        (["--at", "prog.py:3"], 2, "--at needs --graft TRACE"),
        (["--graft", "none.mtrace", "--each"], 3, "none.mtrace: cannot be read"),
        (["--graft", "plain.mtrace", "--each"], 2, "record the reference with `monitorch run --record values=all`"),
        (["--graft", "ref.mtrace", "--each", "--map", "old"], 2, "--map old: expected OLD=NEW"),
        (["--graft", "ref.mtrace", "--each", "--repeat-noise"], 2, "exclude each other"),
        (["--record", "graft_at=prog.py:3"], 2, "graft_at and graft_map need graft"),
    ],
)
def test_mistakes(folder, options, code, message):
    (folder / "prog.py").write_text("x = 1\n")
    run(folder, "-o", "plain.mtrace")
    done = forked_runs.run(folder, ["monitorch", "run", "-q", *options, "prog.py"])
    assert done.code == code and message in done.output, done.output
