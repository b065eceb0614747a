"""A decoder block over a memory: functions over a dict with k and v packed; modules with heads in the weights. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(12)


def draw(*shape, scale=0.3):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"cross.q": draw(20, 20), "cross.kv": draw(14, 40), "cross.out": draw(20, 20), "cross.out_bias": draw(20)}
    for name in ("norm.a", "norm.b"):
        w[name + ".gain"], w[name + ".shift"] = 1 + draw(20), draw(20)
    w["ff.in"], w["ff.in_bias"] = draw(20, 50), draw(50)
    w["ff.out"], w["ff.out_bias"] = draw(50, 20), draw(20)
    w["gate.scale"] = draw(20)
    w["head.map"] = draw(20, 9)
    return w, (torch.randn(2, 5, 20, generator=g), torch.randn(2, 8, 14, generator=g))
"""

REFERENCE = """
import math
import torch


def normalise(x, gain, shift):
    center = x - x.mean(-1, keepdim=True)
    spread = (center * center).mean(-1, keepdim=True)
    return center / torch.sqrt(spread + 1e-6) * gain + shift


def heads(x):
    return x.unflatten(-1, (4, 5)).transpose(1, 2)


def cross(w, x, memory):
    q = heads(x @ w["cross.q"])
    k, v = (memory @ w["cross.kv"]).chunk(2, -1)
    k, v = heads(k), heads(v)
    logits = q @ k.transpose(-1, -2)
    logits = logits / math.sqrt(5)
    share = logits.softmax(-1)
    out = (share @ v).transpose(1, 2).flatten(2)
    return out @ w["cross.out"] + w["cross.out_bias"]


def block(w, x, memory):
    a = normalise(x, w["norm.a.gain"], w["norm.a.shift"])
    c = cross(w, a, memory)
    x = x + torch.tanh(w["gate.scale"]) * c
    b = normalise(x, w["norm.b.gain"], w["norm.b.shift"])
    h = b @ w["ff.in"] + w["ff.in_bias"]
    h = torch.relu(h) ** 2
    h = h @ w["ff.out"] + w["ff.out_bias"]
    x = x + h
    return x @ w["head.map"]


w, (x, memory) = torch.load("checkpoint.pt")
weights = dict(w)
answer = block(w, x, memory)
"""

PORT = """
import torch
from torch import nn
from torch.nn import functional as F


class Cross(nn.Module):
    def __init__(self, width, other, count):
        super().__init__()
        self.count = count
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(other, width, bias=False)
        self.value = nn.Linear(other, width, bias=False)
        self.merge = nn.Linear(width, width)

    def split(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.count, -1).permute(0, 2, 1, 3)

    def forward(self, stream, context):
        query = self.split(self.query(stream))
        key = self.split(self.key(context))
        value = self.split(self.value(context))
        mixed = F.scaled_dot_product_attention(query, key, value)
        mixed = mixed.permute(0, 2, 1, 3).reshape(stream.shape)
        return self.merge(mixed)


class Feed(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.grow = nn.Linear(width, inner)
        self.shrink = nn.Linear(inner, width)

    def forward(self, stream):
        stream = self.grow(stream)
        stream = F.relu(stream)
        stream = stream.square()
        return self.shrink(stream)


class Decoder(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.first = nn.LayerNorm(20, eps=eps)
        self.cross = Cross(20, 14, 4)
        self.gate = nn.Parameter(torch.zeros(20))
        self.second = nn.LayerNorm(20, eps=eps)
        self.feed = Feed(20, 50)
        self.project = nn.Linear(20, 9, bias=False)

    def forward(self, stream, context):
        normed = self.first(stream)
        crossed = self.cross(normed, context)
        stream = stream + crossed * self.gate.tanh()
        normed = self.second(stream)
        fed = self.feed(normed)
        stream = stream + fed
        return self.project(stream)


def convert(old):
    key, value = old["cross.kv"].T.chunk(2)
    return {
        "first.weight": old["norm.a.gain"],
        "first.bias": old["norm.a.shift"],
        "cross.query.weight": old["cross.q"].T,
        "cross.key.weight": key,
        "cross.value.weight": value,
        "cross.merge.weight": old["cross.out"].T,
        "cross.merge.bias": old["cross.out_bias"],
        "gate": old["gate.scale"],
        "second.weight": old["norm.b.gain"],
        "second.bias": old["norm.b.shift"],
        "feed.grow.weight": old["ff.in"].T,
        "feed.grow.bias": old["ff.in_bias"],
        "feed.shrink.weight": old["ff.out"].T,
        "feed.shrink.bias": old["ff.out_bias"],
        "project.weight": old["head.map"].T,
    }


decoder = Decoder().eval()
old, (stream, context) = torch.load("checkpoint.pt")
decoder.load_state_dict(convert(old))
loaded = decoder.state_dict()
with torch.no_grad():
    result = decoder(stream, context)
"""

BUGS = [
    Bug("eps", "eps=1e-6", "eps=1e-1"),
    Bug("key_and_value_swapped", "key, value = old", "value, key = old", weight="cross.key.weight"),
    Bug("query_not_transposed", 'old["cross.q"].T', 'old["cross.q"]', weight="cross.query.weight"),
    Bug(
        "merge_bias_of_zeros", 'old["cross.out_bias"]', "torch.zeros(20)", weight="cross.merge.bias"
    ),
    Bug(
        "norms_swapped",
        '"first.weight": old["norm.a.gain"]',
        '"first.weight": old["norm.b.gain"]',
        weight="first.weight",
    ),
    Bug("gate_missing", "stream + crossed * self.gate.tanh()", "stream + crossed"),
    Bug("gate_not_squashed", "self.gate.tanh()", "self.gate"),
    Bug(
        "square_missing",
        "        stream = stream.square()\n",
        "",
        at="return self.shrink(stream)",
        also="stream = F.relu(stream)",
    ),
    Bug("gelu", "stream = F.relu(stream)", "stream = F.gelu(stream)"),
    Bug(
        "scale",
        "scaled_dot_product_attention(query, key, value)",
        "scaled_dot_product_attention(query, key, value, scale=1.0)",
    ),
    Bug("residual_of_the_normed", "stream = stream + fed", "stream = normed + fed"),
    Bug("heads_count", "Cross(20, 14, 4)", "Cross(20, 14, 5)"),
    Bug("second_norm_left_out", "fed = self.feed(normed)", "fed = self.feed(stream)"),
]
