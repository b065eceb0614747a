"""A value inside of a model over a whole training, by its path: how much of each layer's gate is shut,
step by step; and under torchrun of each process, gathered by the first. Nothing is changed in the model.

    python samples/traced.py
    torchrun --nproc-per-node 2 samples/traced.py
"""

import os

import torch
from monitorch.tracer import ModelTracer
from torch import nn


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        gate = self.up(x).relu()
        shut = (gate == 0).float().mean()
        return self.down(x * gate), shut


class Stack(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(Gated(width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)[0]
        return self.head(x)


def main():
    rank = int(os.environ.get("RANK", "0"))
    if "WORLD_SIZE" in os.environ:
        torch.distributed.init_process_group("gloo")
    torch.manual_seed(rank)
    model = Stack(8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with ModelTracer(model, ["layers.*.forward.shut"], gathering_interval=5) as tracer:
        for _ in range(20):
            inputs = torch.randn(64, 8)
            (model(inputs) - inputs.sum(dim=-1, keepdim=True)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    if rank == 0:
        for path, traced in tracer.results.items():
            for step, rank, value in zip(traced.iterations, traced.ranks, traced.values):
                print(f"{path}, step {step}, rank {rank}: {float(value):.0%} shut")
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
