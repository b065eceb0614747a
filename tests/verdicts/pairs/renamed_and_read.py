"""A variable that was renamed and is read under its new name is the same line."""

GOOD = '''
import torch


def f(x):
    hidden = x * 2
    other = hidden + 1
    return other


out = f(torch.ones(3))
'''

BAD = '''
import torch


def f(x):
    states = x.mul(3)  # HERE
    other = states + 1
    return other


out = f(torch.ones(3))
'''
