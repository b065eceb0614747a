"""A call that a constructor makes now: its line, and not the method's."""

GOOD = r'''
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def reset(self):
        with torch.no_grad():
            self.w.fill_(2.0)

    def forward(self, x):
        y = x * self.w
        return y


out = Net()(torch.arange(3.0))
'''
BAD = GOOD.replace("torch.ones(3))\n", "torch.ones(3))\n        self.reset()  # HERE\n")
