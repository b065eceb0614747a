"""An argument that one forward has alone is no difference by itself."""

GOOD = '''
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, scale=2.0):
        y = x * scale
        return y


out = Net()(torch.ones(3))
'''

BAD = '''
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, scale=2.0, mask=None, past=None):
        y = x * scale
        return y


out = Net()(torch.ones(3))
'''
