"""One block of a decoder, with the weights in a dictionary. port.py is the same block as modules."""

import torch
from checkpoint import inputs, weights


def norm(x, gain, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


def attention(x, w):
    q, k, v = x @ w["attention.q"], x @ w["attention.k"], x @ w["attention.v"]
    scores = q @ k.T / q.shape[-1] ** 0.5
    scores = scores + torch.triu(torch.full_like(scores, float("-inf")), 1)
    return torch.softmax(scores, -1) @ v @ w["attention.o"]


def block(x, w):
    x = x + attention(norm(x, w["norm1.gain"]), w)
    hidden = torch.relu(norm(x, w["norm2.gain"]) @ w["mlp.up"])
    return x + hidden @ w["mlp.down"]


w = weights()
result = block(inputs(), w)
print(f"norm {result.norm():.4f}")
