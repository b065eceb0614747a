"""Modules in modules, one of them repeated."""
# begin
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width) * 2)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        y = x @ self.weight
        self.seen += 1
        return y.relu()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(2) for _ in range(3))
        self.head = nn.Identity()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        out = self.head(x) - 1
        return out


net = Net()
start = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
out = net(start)
loss = out.sum()
loss.backward()
gradient = net.layers[0].weight.grad
# end
