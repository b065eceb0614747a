"""An item that has another key, and that nothing recorded reads: a first divergence with a place."""

GOOD = r'''
import torch


def f(x):
    return {"a": x * 2, "b": x + 1}


def g(d):
    total = sum(d.values())
    return total


out = g(f(torch.arange(3.0)))
'''
BAD = GOOD.replace('{"a": x * 2, "b": x + 1}', '{"c": x * 2, "b": x + 1}  # HERE')
