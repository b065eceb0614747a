"""A constructor that calls another method: its line, and not the methods' lines."""

GOOD = r'''
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.init_small()
        self.scale = 2.0

    def init_small(self):
        for layer in (self.a, self.b):
            nn.init.constant_(layer.weight, 0.1)
            nn.init.zeros_(layer.bias)

    def init_large(self):
        for layer in (self.a, self.b):
            nn.init.constant_(layer.weight, 0.9)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        h = self.a(x)
        return self.b(h) * self.scale


out = Net()(torch.arange(4.0))
'''
BAD = GOOD.replace("self.init_small()\n        self.scale", "self.init_large()  # HERE\n        self.scale")
