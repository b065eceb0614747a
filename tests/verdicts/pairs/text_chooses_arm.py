"""A text that the caller passes chooses another arm, whose value differs."""

GOOD = '''
import torch


def fill(x, how):
    bad = x > 2
    if how == "mean":
        x = torch.where(bad, x.mean(), x)
    elif how == "zero":
        x = torch.where(bad, 0.0, x)
    return x


x = torch.arange(4.0)
y = fill(x, "mean")
z = y * 2
'''

BAD = '''
import torch


def fill(x, how):
    bad = x > 2
    if how == "mean":
        x = torch.where(bad, x.mean(), x)
    elif how == "zero":
        x = torch.where(bad, 0.0, x)
    return x


x = torch.arange(4.0)
y = fill(x, "zero")  # HERE
z = y * 2
'''
