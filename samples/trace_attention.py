"""Attention weights of every layer, over a training, by their paths; nothing is changed in the model.

What `layers.*.forward.weights` matches is kept each fifth step, with the number of the step.
"""

import math

import torch
from monitorch.tracer import ModelTracer
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.project_in(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
        return self.project_out((weights @ v).transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    def __init__(self, width=32, heads=4, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(Attention(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, width)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


def main():
    torch.manual_seed(0)
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(2, 10, 32)
    tracer = ModelTracer(model, ["layers.*.forward.weights", "forward"], trace_interval=5)
    with tracer:
        for _ in range(20):
            (model(x) - x.flip(1)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    for path, traced in tracer.results.items():
        print(f"{path}: {len(traced.values)} of {tuple(traced.values[0].shape)}, of steps", end=" ")
        print(*traced.iterations)
    for layer in range(len(model.layers)):
        traced = tracer.results[f"layers.{layer}.forward.weights"]
        largest = " ".join(f"{weights.max():.3f}" for weights in traced.values)
        print(f"layer {layer}, the largest weight: {largest}")


if __name__ == "__main__":
    main()
