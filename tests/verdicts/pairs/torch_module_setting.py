"""A setting of a torch module: the constructor's line, and not the line that uses the module."""

GOOD = r'''
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8, eps=1e-3)

    def forward(self, x):
        x = self.norm(x)
        return x


torch.manual_seed(0)
out = Head()(torch.randn(2, 8) * 1e-3)
'''
BAD = r'''
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)  # HERE

    def forward(self, x):
        x = self.norm(x)
        return x


torch.manual_seed(0)
out = Head()(torch.randn(2, 8) * 1e-3)
'''
