"""One more call of a known function, whose result reaches nothing."""

GOOD = r'''
import torch


def length(x):
    return len(x)


def model(x):
    y = x * 2
    return y


n = length(torch.ones(2))
out = model(torch.ones(2))
'''
BAD = r'''
import torch


def length(x):
    return len(x)


def model(x):
    seen = length(x)
    y = x * 2
    return y


n = length(torch.ones(2))
out = model(torch.ones(2))
'''
