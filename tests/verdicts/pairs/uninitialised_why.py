"""With deterministic algorithms torch.empty is all NaN; nothing reads it."""

BAD = '''
import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Parameter(torch.empty(4, 8))
        nn.init.normal_(self.down)
        self.a_log = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        rate = self.a_log.abs().log()  # HERE
        return x @ self.down.T * rate


model = Experts()
out = model(torch.ones(2, 8))
'''

OPTIONS = ["--deterministic", "--seed", "0"]
