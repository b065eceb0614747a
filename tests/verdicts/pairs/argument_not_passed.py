"""An argument is no longer passed and takes its default: the caller's line."""

GOOD = r'''
import torch


def positions(n, past=0):
    return torch.arange(past, past + n)


def layer(x, past):
    p = positions(3, past)
    return x + p


out = layer(torch.ones(3), 6)
'''
BAD = r'''
import torch


def positions(n, past=0):
    return torch.arange(past, past + n)


def layer(x, past):
    p = positions(3)  # HERE
    return x + p


out = layer(torch.ones(3), 6)
'''
