"""A alone writes into its caller's tensor: the line that no longer does is named."""

GOOD = '''
import torch


def shift(x):
    x += 1
    return x.sum()


x = torch.zeros(3)
first = shift(x)
second = shift(x)
'''

BAD = '''
import torch


def shift(x):
    x = x + 1  # HERE
    return x.sum()


x = torch.zeros(3)
first = shift(x)
second = shift(x)
'''
