"""Small models that torch.compile turns into one graph, except where their name says so."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, scale=2.0):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)
        self.scale: float = scale
        self.calls = 0

    def forward(self, x, mask=None):
        residual = x
        x = self.norm(x)
        hidden = F.gelu(self.up(x)); hidden = hidden * self.scale
        if mask is not None:
            hidden = hidden * mask
        elif self.training:
            hidden = F.dropout(hidden, 0.1)
        else:
            hidden += 1
        out = self.down(hidden)
        for step in range(2):
            out = out + residual / (step + 1)
        return out


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores.masked_fill_(~mask, -1e9)
        weights = scores.softmax(-1)
        y = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(y)


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Embedding(30, width)
        self.layers = nn.ModuleList([Attention(width, 2), Block(width), Block(width, 0.5)])
        self.head = nn.Linear(width, 30, bias=False)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer(x)
        logits = self.head(x)
        if (shift := logits.mean()) is not None:
            logits = logits - shift
        return {"logits": logits, "last": x[:, -1]}


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 4))
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        y = x.clone()
        y[0] = y[1] * 2
        y.add_(1).mul_(2)
        z = torch.empty_like(y)
        torch.add(y, self.total, out=z)
        self.total = self.total + z.sum(0)
        self.last = z
        a, *rest = z.unbind(0)
        return (a + sum(rest)) * self.weight, [t.relu_() for t in rest]


class Breaks(nn.Module):
    """Breaks the graph at the print and at the item."""

    def forward(self, x):
        x = x + 1
        print(end="")
        y = x * 2
        if y.sum().item() > 0:
            y = y - 1
        return y


class Loops(nn.Module):
    def forward(self, x, steps: int = 3):
        total = torch.zeros_like(x)
        while steps > 0:
            steps -= 1
            if steps == 1:
                continue
            total += x * steps
        else:
            total = total + 1
        try:
            total = total / x.abs().clamp(min=1)
        finally:
            total = total * 1.0
        with torch.no_grad():
            bound = total.max()
        match steps:
            case 0:
                return total.clamp(max=bound)
            case _:
                return total


def train_step(model, optimiser, tokens):
    optimiser.zero_grad()
    out = model(tokens)
    logits = out["logits"]
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimiser.step()
    return loss.detach()


def loss_of(model, tokens):
    logits = model(tokens)["logits"]
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    return loss


def subjects():
    """{name: (model, inputs, whether it is one graph)}"""
    tokens = torch.arange(12).view(2, 6)
    x = torch.linspace(-1, 1, 32).view(2, 16)
    return {
        "block in training": (Block(16), (x,), True),
        "block in evaluation": (Block(16).eval(), (x,), True),
        "block with a mask": (Block(16).eval(), (x, torch.ones(32)), True),
        "attention": (Attention(16, 2), (x.view(1, 2, 16),), True),
        "model": (Model().eval(), (tokens,), True),
        "in place": (InPlace(), (x.view(8, 4)[:4].clone(),), True),
        "breaks": (Breaks(), (x,), False),
        "loops": (Loops(), (x,), True),
    }
