"""An argument differs: the caller's line, which reads differently, and not the `def`."""

GOOD = r'''
import torch


def attention(q, scaling=1.0):
    return (q @ q.T * scaling).softmax(-1)


def layer(x):
    y = attention(x, scaling=1.0)
    return y


out = layer(torch.ones(2, 3).tril())
'''
BAD = r'''
import torch


def attention(q, scaling=1.0):
    return (q @ q.T * scaling).softmax(-1)


def layer(x):
    y = attention(x, scaling=0.5)  # HERE
    return y


out = layer(torch.ones(2, 3).tril())
'''
