"""torch.no_grad() around a part: the `with` line or the line in it."""

GOOD = r'''
import torch


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.up(x).relu()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        h = self.part(x)
        return h.sum()


torch.manual_seed(0)
loss = Net()(torch.ones(2, 4))
'''
BAD = r'''
import torch


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.up(x).relu()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        with torch.no_grad():  # HERE
            h = self.part(x)  # HERE
        return h.sum()


torch.manual_seed(0)
loss = Net()(torch.ones(2, 4))
'''
