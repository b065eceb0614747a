"""The first turn of a loop in front of it."""

GOOD = r'''
import torch


def layer(h, n):
    h = h + n
    return h


def model(h):
    for n in (1, 2):
        h = layer(h, n)
    return h


out = model(torch.ones(2))
'''
BAD = r'''
import torch


def layer(h, n):
    h = h + n
    return h


def model(h):
    first, second = 1, 2
    h = layer(h, first)
    for n in (second,):
        h = layer(h, n)
    return h


out = model(torch.ones(2))
'''
