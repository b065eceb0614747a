"""An item that has another key, and another value besides: the line that makes it, not the one that reads it."""

GOOD = r'''
import torch


def make(x):
    return {"hidden": x * 2, "mask": x > 0}


def use(batch):
    return batch["hidden"] + 1


y = use(make(torch.arange(4.0)))
'''
BAD = GOOD.replace('"hidden"', '"states"').replace('x * 2, "mask": x > 0}', 'x * 3, "mask": x > 0}  # HERE')
