"""A seed that differs, in a line behind functions that have not run."""

GOOD = '''
import torch


def use(x):
    y = x + 1
    return y


torch.manual_seed(0)
x = torch.randn(4)
z = use(x)
'''

BAD = '''
import torch


def use(x):
    y = x + 1
    return y


torch.manual_seed(7)  # HERE
x = torch.randn(4)
z = use(x)
'''
