"""Models whose values can be worked out by hand, for tests of monitorch.tracer."""

from __future__ import annotations

import dataclasses
import typing

import torch
from torch import nn


class Pair(typing.NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@dataclasses.dataclass
class Cache:
    keys: list[torch.Tensor]
    size: int = 0


class Layer(nn.Module):
    """y = scale * x + shift, with a bit of everything on the way."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), scale))
        self.register_buffer("shift", torch.ones(3))
        self.hint = "layer"

    def scaled(self, x):
        product = x * self.weight
        return product

    def forward(self, x, extra=None):
        y = self.scaled(x)
        y = y + self.shift
        self.last = y
        return y


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(2.0), Layer(3.0)])
        self.named = nn.ModuleDict({"a": Layer(4.0)})
        self.bn = nn.BatchNorm1d(3)
        self.bn2 = nn.BatchNorm1d(3)
        self.head = nn.Linear(3, 2)
        self.table = {"one": torch.ones(1), 2: torch.zeros(1), "a.b": torch.ones(2)}

    def forward(self, x, *rest, flag=True, **more):
        h = x
        for number, layer in enumerate(self.layers):
            h = layer(h)
        h = self.named["a"](h)
        n = self.bn2(self.bn(h))
        count = n.shape[0]
        pair = Pair(h, n)
        items = [h, n, {"deep": (h + 1, [h + 2])}]
        book = {"h": h, "inner": {"n": n}, 7: h * 7, "text": "word"}
        cache = Cache([h, h + 3], size=2)
        text, nothing, real = "hello", None, 0.5
        function = len
        out = self.head(n)
        return out
