"""What the tests of the interface share: signatures, folders, and a small model that saves."""

from __future__ import annotations

import pathlib

import torch
from monitorch.spy import spy_save
from torch import nn

X = torch.arange(6.0).view(2, 3)


def load(*words):
    return torch.load(pathlib.Path(*words), weights_only=True)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        y = self.proj(x)
        spy_save("y", y, self)
        return y


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(Inner(), nn.ReLU(), Inner())
        self.decoder = Inner()

    def forward(self, x):
        return self.decoder(self.encoder(x))
