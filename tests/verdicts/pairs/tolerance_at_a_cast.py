"""A difference within bfloat16's tolerance is beyond that of float32 after a cast: the line where it began."""

GOOD = r'''
import torch


def embed(ids, weight):
    return weight[ids] * torch.tensor(48**0.5).to(weight.dtype)


def norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))


torch.manual_seed(0)
h = embed(torch.arange(16), torch.randn(16, 48).bfloat16())
out = norm(h.float())
'''
BAD = r'''
import torch


def embed(ids, weight):
    return weight[ids] * 48**0.5  # HERE


def norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))


torch.manual_seed(0)
h = embed(torch.arange(16), torch.randn(16, 48).bfloat16())
out = norm(h.float())
'''
