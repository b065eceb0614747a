"""A call is gone from a line: that line."""

GOOD = r'''
import torch


def drop(h):
    keep = torch.ones(2, 1)
    keep[0] = 0
    return h * keep


def layer(h):
    residual = h
    h = h + 1
    h = drop(h) + residual
    return h


a = drop(torch.ones(2, 3))
out = layer(torch.ones(2, 3))
'''
BAD = r'''
import torch


def drop(h):
    keep = torch.ones(2, 1)
    keep[0] = 0
    return h * keep


def layer(h):
    residual = h
    h = h + 1
    h = h + residual  # HERE
    return h


a = drop(torch.ones(2, 3))
out = layer(torch.ones(2, 3))
'''
