"""A small GPT, trained for a few steps on a repeating text.

With --empty-row one sequence of the batch is all padding: each of its scores is -inf, the
softmax of such a row is NaN, and from that line on everything is. The loss that is printed
tells that it happened, not where.
"""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)

    def forward(self, x, padding):
        batch, length, width = x.shape
        q, k, v = self.project_in(x).chunk(3, dim=-1)
        q = q.view(batch, length, self.heads, -1).transpose(1, 2)
        k = k.view(batch, length, self.heads, -1).transpose(1, 2)
        v = v.view(batch, length, self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -math.inf)
        if padding is not None:
            scores = scores.masked_fill(padding[:, None, None, :], -math.inf)
        weights = scores.softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.project_out(mixed)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x, padding=None):
        x = x + self.attention(self.norm_attention(x), padding)
        x = x + self.mlp(self.norm_mlp(x))
        return x


class SmallGPT(nn.Module):
    def __init__(self, vocabulary=32, width=48, heads=4, depth=2, longest=64):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, padding=None):
        places = torch.arange(tokens.shape[1])
        x = self.token(tokens) + self.position(places)
        for block in self.blocks:
            x = block(x, padding)
        return self.head(self.norm(x))


def train(steps, has_empty_row):
    torch.manual_seed(0)
    model = SmallGPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    text = torch.arange(4 * 17).remainder(11).view(4, 17)
    tokens, targets = text[:, :-1], text[:, 1:]
    padding = torch.zeros(tokens.shape, dtype=torch.bool)
    padding[-1] = has_empty_row
    for step in range(steps):
        scores = model(tokens, padding)
        loss = functional.cross_entropy(scores.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--empty-row", action="store_true", help="make a NaN")
    arguments = parser.parse_args()
    train(arguments.steps, arguments.empty_row)


if __name__ == "__main__":
    main()
