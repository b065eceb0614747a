"""What test_program.py instruments and runs where torch is there."""

from dataclasses import dataclass

import torch


@dataclass
class Output:
    logits: torch.Tensor
    parts: object = None


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        flat = x.view(-1)
        x.add_(1)
        flat = flat
        scaled = flat[:3] * self.weight
        scaled[0] = 5
        self.cache = scaled.detach()
        half = scaled.half()
        if scaled.sum() > 100:
            chosen = half
        elif scaled.sum() > 8:
            chosen = scaled / 0
        else:
            chosen = torch.complex(scaled, scaled)
        empty = torch.empty(0, 4)
        nowhere = torch.empty(3, device="meta")
        spread = torch.arange(3).expand(4, 3).t()
        return Output(half, {"a": [chosen, 1, "text"], "b": (empty, nowhere, spread)})


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])

    def forward(self, x):
        for layer in self.layers:
            output = layer(x)
        return output


Model()(torch.zeros(2, 3))
