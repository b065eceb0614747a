"""`if n == 1: return h` and the rest became `if n != 1: the rest` and `return h`."""

GOOD = r'''
import torch


def repeat(h, n):
    if n == 1:
        return h
    h = h[:, None].expand(2, n, 3)
    return h.reshape(2 * n, 3)


out = repeat(torch.ones(2, 3), 2)
'''
BAD = r'''
import torch


def repeat(h, n):
    if n != 1:
        h = h[:, None].expand(2, n, 3)
        return h.reshape(2 * n, 3)
    return h


out = repeat(torch.ones(2, 3), 2)
'''
