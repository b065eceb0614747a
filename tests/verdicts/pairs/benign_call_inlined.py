"""A helper's body in the place of its call."""

GOOD = r'''
import torch


def turned(x):
    a = x[..., :2]
    b = x[..., 2:]
    return torch.cat((-b, a), -1)


def rope(q, c, s):
    e = q * c + turned(q) * s
    return e


a = turned(torch.ones(4))
out = rope(torch.arange(4.0), 0.5, 0.25)
'''
BAD = r'''
import torch


def turned(x):
    a = x[..., :2]
    b = x[..., 2:]
    return torch.cat((-b, a), -1)


def rope(q, c, s):
    r = torch.cat((-q[..., 2:], q[..., :2]), -1)
    e = q * c + r * s
    return e


a = turned(torch.ones(4))
out = rope(torch.arange(4.0), 0.5, 0.25)
'''
