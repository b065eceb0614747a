"""Attention weights saved where they are made, and read again.

The calls of spy_save do nothing but in a DebugContext: of three steps only the last is saved. The
files are spy_attention/step2.{module}.weights.call0.pt, which torch.load reads as well.
"""

import math

import torch
from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save
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
        spy_save("weights", weights, self)
        spy_save("qkv", {"q": q, "k": k, "v": v}, self)
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
    saver = TensorSaver("spy_attention", overwrite=True)
    saver.register_modules(model, target_classes=(Attention,))
    x = torch.randn(2, 10, 32)
    for step in range(2):
        (model(x) - x.flip(1)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    with DebugContext(saver, prefix="step2"), torch.no_grad():
        model(x)

    saved = spy_load("spy_attention")
    for path, names in saved["step2"].items():
        weights = names["weights"][0]
        spread = -(weights * weights.log()).sum(-1).mean((0, 2)) / math.log(weights.shape[-1])
        heads = " ".join(f"{value:.2f}" for value in spread.tolist())
        print(f"{path}: {tuple(weights.shape)}, spread of each head {heads}")
    print("saved:", ", ".join(sorted({entry.name for entry in saved.entries()})))


if __name__ == "__main__":
    main()
