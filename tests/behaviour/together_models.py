"""Three programs that all recorders of the package are used on together."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.register_buffer("mean", torch.zeros(size))

    def forward(self, x):
        hidden = self.linear(x)
        self.mean.lerp_(hidden.detach().mean(0), 0.5)
        hidden = hidden.relu() * 1.0
        hidden += x
        return hidden


class Training(nn.Module):
    """A backward and an optimizer's step; a buffer that is written in place."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.optimizer = torch.optim.SGD(self.blocks.parameters(), lr=0.1)

    def forward(self, x):
        scores = self.blocks(x)
        loss = scores.square().mean()
        return loss

    def step(self, number):
        loss = self(torch.full((2, 4), 1.0 + number))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Recurrent(nn.Module):
    """A loop, a list and a dict of tensors."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 3)

    def forward(self, x):
        state = torch.zeros(2, 3)
        found = []
        cache = {}
        for i in range(x.size(0)):
            state = self.cell(x[i], state)
            found.append(state)
            cache[i] = state * 2
        joined = torch.stack(found)
        total = joined + cache[0]
        return total

    def step(self, number):
        with torch.no_grad():
            self(torch.linspace(0.0, 1.0 + number, 18).reshape(3, 2, 3))


class Branches(nn.Module):
    """Branches by the step, a NaN in one of them, and a function that is called by two lines."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        features = self.conv(x)
        if self.calls % 2:
            weights = normalise(features)
        else:
            weights = normalise(features * 0)
        result = normalise(x[..., 2:]) + weights.mean(1, keepdim=True)
        return result

    def step(self, number):
        self(torch.arange(8.0).reshape(1, 1, 8) + number)


def normalise(x):
    size = x.abs().sum()
    return x / size


PROGRAMS = {made.__name__: made for made in (Training, Recurrent, Branches)}
