"""Weights that are loaded wrong are named before the line that uses them; the map says which weight is which."""

import json

import pytest

from tests.support import viewer
from tests.verdicts.ports import runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

REFERENCE = """
import torch


def step(w, name, x):
    q = x @ w[name + ".q"] + w[name + ".q_bias"]
    k = x @ w[name + ".k"] + w[name + ".k_bias"]
    v = x @ w[name + ".v"] + w[name + ".v_bias"]
    share = torch.softmax(q @ k.transpose(-1, -2) / 12**0.5, -1)
    return x + (share @ v) @ w[name + ".o"]


torch.manual_seed(1)
w = {}
for layer in ("0", "1"):
    for part in ("q", "k", "v"):
        w[f"layer{layer}.{part}"] = torch.randn(12, 12) * 0.3
        w[f"layer{layer}.{part}_bias"] = torch.randn(12) * 0.3
    w[f"layer{layer}.o"] = torch.randn(12, 12) * 0.3
w["head.wide"] = torch.randn(12, 5)
weights = dict(w)
x = torch.randn(2, 6, 12)
first = step(w, "layer0", x)
second = step(w, "layer1", first)
answer = second @ w["head.wide"]
"""

PORT = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.packed = nn.Linear(12, 36)
        self.out = nn.Linear(12, 12, bias=False)

    def forward(self, tokens):
        query, key, value = self.packed(tokens).chunk(3, dim=-1)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        return tokens + self.out(mixed)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.last = nn.Linear(12, 5, bias=False)

    def forward(self, tokens):
        for block in self.blocks:
            tokens = block(tokens)
        return self.last(tokens)


torch.manual_seed(1)
new, old = {}, {}
for i in range(2):
    at = f"blocks.{i}."
    for part in ("q", "k", "v"):
        old[part] = torch.randn(12, 12) * 0.3
        old[part + "b"] = torch.randn(12) * 0.3
    new[at + "packed.weight"] = torch.cat([old[n].T for n in ("q", "k", "v")])
    new[at + "packed.bias"] = torch.cat([old[n + "b"] for n in ("q", "k", "v")])
    new[at + "out.weight"] = (torch.randn(12, 12) * 0.3).T
new["last.weight"] = torch.randn(12, 5).T
tokens = torch.randn(2, 6, 12)
{many}
net = Net()
net.load_state_dict(new)
{wrong}
state = net.state_dict()
result = net(tokens)
"""

# The same where no line holds the pieces of a packed weight.
PIECES = PORT[PORT.index("    for part in (") : PORT.index('    new[at + "out.weight"]')]
UNSEEN = """\
    new[at + "packed.weight"], new[at + "packed.bias"] = map(
        torch.cat,
        zip(*[((torch.randn(12, 12) * 0.3).T, torch.randn(12) * 0.3) for _ in range(3)]),
    )
"""

# More than one chunk of the trace, after the first weights.
MANY = "for turn in range(6000):\n    noise = tokens * turn"

WRONG = {
    "transposed": (
        "net.blocks[1].out.weight.data = net.blocks[1].out.weight.data.T",
        "blocks.1.out.weight",
    ),
    "permuted": ("net.last.weight.data = net.last.weight.data.flip(0)", "last.weight"),
    "not loaded": ("net.last.weight.data = torch.randn(5, 12)", "last.weight"),
    "of another layer": (
        "net.blocks[1].packed.weight.data = net.blocks[0].packed.weight.data.clone()",
        "blocks.1.packed.weight",
    ),
    "a piece not loaded": (
        "net.blocks[0].packed.bias.data = torch.cat([torch.zeros(12), new['blocks.0.packed.bias'][12:]])",
        "blocks.0.packed.bias",
    ),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    known = {}

    def of(source):
        if source not in known:
            name = str(len(known))
            known[source] = runs.record_program(folder, name, source, folder / f"{name}.mtrace")
        return known[source]

    return of


def port(wrong="", many=""):
    return PORT.replace("{many}", many).replace("{wrong}", wrong)


@pytest.mark.parametrize("many", ["", MANY], ids=["short", "long"])
def test_a_packed_weight_is_the_ones_that_it_was_made_of(record, many):
    done = viewer.run("diff", "--by-values", record(REFERENCE), record(port(many=many)))
    assert done.returncode == 0 and done.stdout.startswith("equal by values"), done.stdout
    table = viewer.run("diff", "--print-map", record(REFERENCE), record(port(many=many))).stdout
    assert " blocks.1.out.weight                       = layer1.o, transposed\n" in table, table
    packed = (
        " blocks.0.packed.weight                    = layer0.q + layer0.k + layer0.v, transposed\n"
    )
    assert packed in table, table
    unseen = record(port(many=many).replace(PIECES, UNSEEN))
    backwards = viewer.run("diff", "--print-map", unseen, record(REFERENCE)).stdout
    assert " = blocks.0.packed.weight, part 2 of 3, transposed\n" in backwards, backwards


def test_rows_of_packed_weights_are_read_again(record, tmp_path):
    pair = record(REFERENCE), record(port())
    text = viewer.run("diff", "--print-map", "--json", *pair).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    parts = [row for row in rows if row["name"] == "blocks.0.packed.weight"]
    assert [row["name_a"] for row in parts] == ["layer0.q", "layer0.k", "layer0.v"]
    assert [row["part"] for row in parts] == [1, 2, 3] and parts[0]["packed"] == "b"
    file = tmp_path / "map.json"
    file.write_text(text)
    done = viewer.run("diff", "--by-values", "--map-file", file, *pair)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    file.write_text(text.replace('"name_a":"layer0.k"', '"name_a":"layer1.k"'))
    done = viewer.run("diff", "--by-values", "--map-file", file, *pair)
    assert "blocks.0.packed.weight = layer1.k: their values differ" in done.stderr, done.stderr


@pytest.mark.parametrize("name", WRONG)
def test_a_weight_that_is_loaded_wrong_is_named(record, name):
    line, weight = WRONG[name]
    done = viewer.run("diff", "--by-values", record(REFERENCE), record(port(line)))
    assert done.returncode == 1
    assert f": weight {weight}: " in done.stdout.splitlines()[0], done.stdout
