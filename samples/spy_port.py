"""A layer written anew, and which of its tensors first differs from the old one's.

Both save what they make under the same names, each in a folder of its own:

    python samples/spy_port.py
    monitorch diff reference port

Their weights are the same. The outputs are not.
"""

import torch
from monitorch.spy import DebugContext, TensorSaver, spy_save
from torch import nn
from torch.nn import functional


class Gated(nn.Module):
    """Normalised by its root mean square, then a gated layer."""

    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, width))
        self.gate = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, width, bias=False)

    def norm(self, x):
        return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * self.scale

    def forward(self, x):
        normed = self.norm(x)
        spy_save("normed", normed, self)
        gated = functional.silu(self.gate(normed)) * self.up(normed)
        spy_save("gated", gated, self)
        return x + gated


class Ported(Gated):
    """What came of it in another hand: the mean is subtracted, as a layer norm does."""

    def norm(self, x):
        return functional.layer_norm(x, x.shape[-1:], self.scale, eps=1e-5)


def make(layer):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), layer(16), layer(16))


def main():
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(1))
    for folder, layer in (("reference", Gated), ("port", Ported)):
        model = make(layer)
        saver = TensorSaver(folder, overwrite=True)
        saver.register_modules(model, target_classes=(Gated,))
        with DebugContext(saver):
            spy_save("x", x)
            output = model(x)
        print(f"{folder}: sum of the output {output.sum().item():.3f}")


if __name__ == "__main__":
    main()
