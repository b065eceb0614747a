"""The weights and the inputs of reference.py and port.py."""

import torch


def weights():
    generator = torch.Generator().manual_seed(0)
    w = {f"attention.{name}": torch.randn(16, 16, generator=generator) / 4 for name in "qkvo"}
    w["mlp.up"] = torch.randn(16, 40, generator=generator) / 4
    w["mlp.down"] = torch.randn(40, 16, generator=generator) / 6
    for name in ("norm1.gain", "norm2.gain"):
        w[name] = 1 + torch.randn(16, generator=generator) / 8
    return w


def inputs():
    return torch.randn(5, 16, generator=torch.Generator().manual_seed(1))
