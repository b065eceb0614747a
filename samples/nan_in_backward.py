"""Points that push each other apart, and a NaN that no line of the forward makes.

The root of a distance of 0, of a point from itself, has an infinite derivative. So the first backward
makes NaN gradients, the optimizer's step makes NaN weights, and the loss of the next step is NaN.

    monitorch run --backward samples/nan_in_backward.py
    monitorch why run.mtrace
"""

import torch
from torch import nn


class Points(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Linear(3, 2)

    def forward(self, x):
        places = self.place(x)
        difference = places[:, None] - places[None]
        square = (difference**2).sum(-1)
        distance = torch.sqrt(square)
        return distance.mean()


def main():
    torch.manual_seed(0)
    model = Points()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 3)
    for step in range(2):
        loss = -model(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.2f}")


if __name__ == "__main__":
    main()
