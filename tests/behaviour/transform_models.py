"""Models and functions that torch's transforms are tried on, written to be instrumented."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.scale = 1.5

    def forward(self, x):
        hidden = self.up(x)
        hidden = F.gelu(hidden) * self.scale
        out = self.down(hidden)
        out = out + x
        return out


class Net(nn.Module):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        y = x
        for block in self.blocks:
            y = block(y)
        y[..., 0] = y[..., 1] * 2
        y = y.clone()
        y.mul_(0.5)
        if self.training:
            y = F.dropout(y, 0.2)
        y = self.norm(y)
        return {"out": y, "mean": y.mean()}


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.total += x.sum(0)
        self.last = x * 2
        return self.last + self.total


class Noisy(nn.Module):
    def forward(self, x):
        noise = torch.randn_like(x)
        y = x + noise
        first, *rest = y.unbind(0)
        total = first
        for r in rest:
            total = total + r
        return total


class Cubed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        y = x * x * x
        return y

    @staticmethod
    def setup_context(context, given, output):
        (x,) = given
        context.save_for_backward(x)

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        factor = 3 * x * x
        return gradient * factor


def loss_of(weights, x):
    hidden = torch.tanh(x @ weights["w"])
    out = hidden @ weights["v"]
    loss = (out * out).mean()
    return loss


def pairwise(a, b):
    difference = a - b
    squared = difference.pow(2)
    return squared.sum(-1).sqrt()


def with_cubed(x):
    y = Cubed.apply(x)
    z = y + 1
    return z.sum()


def choose(flag, x):
    def on_true(v):
        w = v.sin()
        return w + 1

    def on_false(v):
        w = v.cos()
        return w - 1

    chosen = torch.cond(flag, on_true, on_false, (x,))
    return chosen * 2


def numbers(x, scale: float, steps: int = 3):
    total = torch.zeros_like(x)
    i = 0
    while i < steps:
        total = total + x * scale * i
        i += 1
    try:
        text = "a text"
        total = total / len(text)
    finally:
        size = x.shape[0]
    with torch.no_grad():
        bound = total.max()
    chosen = {"total": total, "bound": bound, "size": size}
    return chosen


def stream(x, count):
    for i in range(count):
        x = x + i
        got = yield x
        if got is not None:
            x = x * got
    return x


def use_stream(x):
    pieces = []
    for piece in stream(x, 3):
        pieces.append(piece)
    out = torch.stack(pieces)
    return out


def fails(x):
    y = x + 1
    if y.sum().item() > -1e9:
        z = y @ torch.zeros(3, 3, 3)
        return z
    return y
