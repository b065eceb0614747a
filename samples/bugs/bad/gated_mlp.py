"""A stack of gated layers, normalised by their root mean square, as in current language models."""

import torch
from torch import nn
from torch.nn import functional


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-3):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        power = x.pow(2).mean(dim=-1, keepdim=True)
        normed = x * torch.rsqrt(power + self.eps)
        return normed * self.weight


class GatedLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = RMSNorm(width)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        normed = self.norm(x)
        hidden = functional.silu(self.gate(normed)) * self.up(normed)
        return x + self.down(hidden)


def main():
    torch.manual_seed(0)
    layers = nn.ModuleList(GatedLayer(24) for _ in range(4))
    x = 0.05 * torch.randn(6, 24)
    with torch.no_grad():
        for layer in layers:
            x = layer(x)
    print(f"mean size {x.abs().mean():.5f}")


if __name__ == "__main__":
    main()
