"""One line became three that write the same name."""

GOOD = r'''
import torch


def project(x, w):
    q = (x @ w).view(2, 3, 4, 2).transpose(1, 2)
    return q * 2


out = project(torch.ones(2, 3, 8), torch.eye(8))
'''
BAD = r'''
import torch


def project(x, w):
    q = x @ w
    q = q.view(2, 3, 4, 2)
    q = q.transpose(1, 2)
    return q * 2


out = project(torch.ones(2, 3, 8), torch.eye(8))
'''
