"""A recurrent net: gates by hand, one matrix each, step by step; torch's LSTM with fused weights. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(5)


def draw(*shape, scale=0.3):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"embedding": draw(30, 10)}
    for layer, size in ((0, 10), (1, 14)):
        for gate in ("input", "forget", "cell", "output"):
            w[f"l{layer}.{gate}.x"] = draw(size, 14)
            w[f"l{layer}.{gate}.h"] = draw(14, 14)
            w[f"l{layer}.{gate}.b"] = draw(14)
    w["attend"] = draw(14)
    w["out.w"], w["out.b"] = draw(14, 4), draw(4)
    return w, torch.randint(30, (3, 6), generator=g)
"""

REFERENCE = """
import torch


def step(w, prefix, x, h, c):
    i = torch.sigmoid(x @ w[prefix + "input.x"] + h @ w[prefix + "input.h"] + w[prefix + "input.b"])
    f = torch.sigmoid(x @ w[prefix + "forget.x"] + h @ w[prefix + "forget.h"] + w[prefix + "forget.b"])
    g = torch.tanh(x @ w[prefix + "cell.x"] + h @ w[prefix + "cell.h"] + w[prefix + "cell.b"])
    o = torch.sigmoid(x @ w[prefix + "output.x"] + h @ w[prefix + "output.h"] + w[prefix + "output.b"])
    c = f * c + i * g
    h = o * torch.tanh(c)
    return h, c


def run_layer(w, prefix, xs):
    h = torch.zeros(xs.shape[0], 14)
    c = torch.zeros(xs.shape[0], 14)
    outs = []
    for t in range(xs.shape[1]):
        h, c = step(w, prefix, xs[:, t], h, c)
        outs.append(h)
    return torch.stack(outs, 1)


def model(w, tokens):
    xs = w["embedding"][tokens]
    first = run_layer(w, "l0.", xs)
    second = run_layer(w, "l1.", first)
    score = torch.softmax(second @ w["attend"], 1)
    summary = (score[:, :, None] * second).sum(1)
    summary = torch.relu(summary)
    return summary @ w["out.w"] + w["out.b"]


w, tokens = torch.load("checkpoint.pt")
answer = model(w, tokens)
"""

PORT = """
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 10)
        self.lower = nn.LSTM(10, 14, batch_first=True)
        self.upper = nn.LSTM(14, 14, batch_first=True)
        self.attention = nn.Linear(14, 1, bias=False)
        self.classify = nn.Linear(14, 4)

    def forward(self, words):
        vectors = self.embed(words)
        low, _ = self.lower(vectors)
        high, _ = self.upper(low)
        energy = self.attention(high).squeeze(-1)
        share = energy.softmax(dim=1)
        pooled = torch.einsum("bt,bth->bh", share, high)
        pooled = nn.functional.relu(pooled)
        return self.classify(pooled)


GATES = ("input", "forget", "cell", "output")


def fuse(old, layer):
    new = {}
    new["weight_ih_l0"] = torch.cat([old[f"l{layer}.{gate}.x"].T for gate in GATES])
    new["weight_hh_l0"] = torch.cat([old[f"l{layer}.{gate}.h"].T for gate in GATES])
    new["bias_ih_l0"] = torch.cat([old[f"l{layer}.{gate}.b"] for gate in GATES])
    new["bias_hh_l0"] = torch.zeros(56)
    return new


def convert(old):
    new = {"embed.weight": old["embedding"]}
    for name, value in fuse(old, 0).items():
        new["lower." + name] = value
    for name, value in fuse(old, 1).items():
        new["upper." + name] = value
    new["attention.weight"] = old["attend"][None]
    new["classify.weight"] = old["out.w"].T
    new["classify.bias"] = old["out.b"]
    return new


reader = Reader().eval()
old, words = torch.load("checkpoint.pt")
reader.load_state_dict(convert(old), strict=False)
parameters = reader.state_dict()
classes = reader(words)
"""

BUGS = [
    Bug(
        "gates_in_another_order",
        'GATES = ("input", "forget", "cell", "output")',
        'GATES = ("input", "forget", "output", "cell")',
        weight="lower.weight_ih_l0",
    ),
    Bug(
        "recurrent_not_transposed",
        'old[f"l{layer}.{gate}.h"].T for',
        'old[f"l{layer}.{gate}.h"] for',
        weight="lower.weight_hh_l0",
    ),
    Bug(
        "bias_twice",
        'new["bias_hh_l0"] = torch.zeros(56)',
        'new["bias_hh_l0"] = new["bias_ih_l0"]',
        weight="lower.bias_hh_l0",
    ),
    Bug(
        "bias_of_zeros",
        'new["bias_ih_l0"] = torch.cat([old[f"l{layer}.{gate}.b"] for gate in GATES])',
        'new["bias_ih_l0"] = torch.zeros(56)',
        weight="lower.bias_ih_l0",
    ),
    Bug(
        "second_layer_gets_the_first",
        "fuse(old, 1).items()",
        "({**fuse(old, 1), 'weight_hh_l0': fuse(old, 0)['weight_hh_l0']}).items()",
        weight="upper.weight_hh_l0",
    ),
    Bug("bias_not_loaded", '    new["classify.bias"] = old["out.b"]\n', "", weight="classify.bias"),
    Bug(
        "classify_rows_permuted",
        'old["out.w"].T',
        'old["out.w"].T.flip(0)',
        weight="classify.weight",
    ),
    Bug("softmax_axis", "energy.softmax(dim=1)", "energy.softmax(dim=0)"),
    Bug("softmax_missing", "share = energy.softmax(dim=1)", "share = energy.sigmoid()"),
    Bug("activation", "pooled = nn.functional.relu(pooled)", "pooled = torch.tanh(pooled)"),
    Bug(
        "activation_missing",
        "        pooled = nn.functional.relu(pooled)\n",
        "",
        at="return self.classify(pooled)",
        also='pooled = torch.einsum("bt,bth->bh"',
    ),
    Bug(
        "not_batch_first",
        "self.upper = nn.LSTM(14, 14, batch_first=True)",
        "self.upper = nn.LSTM(14, 14)",
    ),
    Bug(
        "pooled_from_below",
        'torch.einsum("bt,bth->bh", share, high)',
        'torch.einsum("bt,bth->bh", share, low)',
    ),
    Bug(
        "energy_scaled",
        "self.attention(high).squeeze(-1)",
        "self.attention(high).squeeze(-1) / 14**0.5",
    ),
]
