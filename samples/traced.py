"""A value inside of a model over a whole training, by its path: how much of a gate is shut, in each
step; and under torchrun of each process, gathered by the first.

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
        self.up, self.down = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        gate = self.up(x).relu()
        shut = (gate == 0).float().mean()
        return self.down(x * gate), shut


def main():
    rank = int(os.environ.get("RANK", "0"))
    if "WORLD_SIZE" in os.environ:
        torch.distributed.init_process_group("gloo")
    torch.manual_seed(rank)
    model = Gated(8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with ModelTracer(model, ["forward.shut"], gathering_interval=5) as tracer:
        for _ in range(20):
            inputs = torch.randn(64, 8)
            outputs, _ = model(inputs)
            (outputs - inputs.sum(dim=-1, keepdim=True)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    if rank == 0:
        traced = tracer.results["forward.shut"]
        for step, rank, value in zip(traced.iterations, traced.ranks, traced.values):
            print(f"step {step}, rank {rank}: {float(value):.0%} shut")
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
