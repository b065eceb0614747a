"""An item of a dict in a dict that has another key: the line that makes it."""

GOOD = r'''
import torch


def batch(n):
    x = torch.arange(float(n))
    return {"inputs": {"ids": x, "mask": x > 1}, "labels": x * 2}


def model(b):
    ids = b["inputs"].get("ids")
    if ids is None:
        ids = torch.zeros(4)
    y = ids + 1
    return y


out = model(batch(4))
'''
BAD = GOOD.replace('{"ids": x, "mask": x > 1}, "labels": x * 2}', '{"tokens": x, "mask": x > 1}, "labels": x * 2}  # HERE')
