"""An in-place write through a view, only in B."""

GOOD = '''
import torch


def scale(x):
    head = x[:2].clone()
    head.mul_(3)
    return head.sum()


def use(x):
    return x + 1


x = torch.ones(4)
total = scale(x)
y = use(x)
z = y * 2
'''

BAD = '''
import torch


def scale(x):
    head = x[:2]
    head.mul_(3)  # HERE
    return head.sum()


def use(x):
    return x + 1


x = torch.ones(4)
total = scale(x)
y = use(x)
z = y * 2
'''
