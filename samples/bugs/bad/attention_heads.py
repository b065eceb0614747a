"""Sorts sequences of tokens into classes: a transformer encoder of two blocks, in eval mode."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        q = self.query(x).view(batch, length, self.heads, size).transpose(1, 2)
        k = self.key(x).view(batch, self.heads, length, size)
        v = self.value(x).view(batch, length, self.heads, size).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(size)
        weights = scores.softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm_mlp = nn.LayerNorm(width)
        self.grow = nn.Linear(width, 4 * width)
        self.shrink = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm_attention(x))
        hidden = nn.functional.gelu(self.grow(self.norm_mlp(x)))
        x = x + self.shrink(hidden)
        return x


class Classifier(nn.Module):
    def __init__(self, vocabulary=50, width=32, heads=4, depth=2, classes=5):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        x = self.token(tokens)
        for block in self.blocks:
            x = block(x)
        pooled = x.mean(dim=1)
        return self.head(pooled)


def main():
    torch.manual_seed(0)
    model = Classifier().eval()
    for number in range(2):
        tokens = torch.randint(0, 50, (3, 12))
        with torch.no_grad():
            scores = model(tokens)
        print(f"batch {number}: classes", scores.argmax(dim=-1).tolist())


if __name__ == "__main__":
    main()
