"""The block of reference.py, ported to modules: other names, other layouts of the weights, and one mistake."""

import torch
from checkpoint import inputs, weights
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, states):
        variance = states.square().mean(dim=-1, keepdim=True)
        return states / (variance + 1e-6).sqrt() * self.weight


class Decoder(nn.Module):
    def __init__(self, width=16, inner=40):
        super().__init__()
        self.before_attention = RMSNorm(width)
        self.packed = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.before_mlp = RMSNorm(width)
        self.expand = nn.Linear(width, inner, bias=False)
        self.contract = nn.Linear(inner, width, bias=False)

    def forward(self, states):
        query, key, value = self.packed(self.before_attention(states)).chunk(3, dim=-1)
        similar = query @ key.transpose(0, 1)
        similar = similar * query.shape[-1] ** -0.5
        seen = torch.ones_like(similar, dtype=torch.bool).tril()
        share = similar.masked_fill(~seen, float("-inf")).softmax(dim=-1)
        attended = share @ value
        states = states + self.out(attended)
        inner = self.expand(self.before_mlp(states)).relu()
        return states + self.contract(inner)


def convert(w):
    state = {"packed.weight": torch.cat([w[f"attention.{name}"].T for name in "qkv"])}
    state["out.weight"] = w["attention.o"]
    state["expand.weight"] = w["mlp.up"].T
    state["contract.weight"] = w["mlp.down"].T
    state["before_attention.weight"] = w["norm1.gain"]
    state["before_mlp.weight"] = w["norm2.gain"]
    return state


decoder = Decoder()
decoder.load_state_dict(convert(weights()))
loaded = decoder.state_dict()
output = decoder(inputs())
print(f"norm {output.norm():.4f}")
