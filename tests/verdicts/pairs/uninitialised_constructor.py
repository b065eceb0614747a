"""What torch.Tensor(n, m) holds before anything is written is no value."""

GOOD = '''
import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Parameter(torch.Tensor(64, 96))
        self.reset()

    def reset(self):
        nn.init.normal_(self.down)

    def forward(self, x):
        h = x @ self.down
        h = h * 2
        return h


torch.manual_seed(0)
model = Experts()
out = model(torch.ones(2, 64))
'''

BAD = '''
import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Parameter(torch.Tensor(64, 96))
        self.reset()

    def reset(self):
        nn.init.normal_(self.down)

    def forward(self, x):
        h = x @ self.down
        h = h * 3  # HERE
        return h


torch.manual_seed(0)
model = Experts()
out = model(torch.ones(2, 64))
'''
