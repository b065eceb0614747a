"""A tensor of torch.empty that slices fill afterwards."""

GOOD = '''
import torch


def table(n, d):
    out = torch.empty(n, d)
    half = d // 2
    position = torch.arange(float(n))[:, None] * torch.arange(float(half))
    out[:, :half] = position.sin()
    out[:, half:] = position.cos()
    return out


t = table(64, 64)
y = t + 1
'''

BAD = '''
import torch


def table(n, d):
    out = torch.empty(n, d)
    half = d // 2
    position = torch.arange(float(n))[:, None] * torch.arange(float(half))
    out[:, :half] = position.sin()
    out[:, half:] = position.cos()
    return out


t = table(64, 64)
y = t + 2  # HERE
'''
