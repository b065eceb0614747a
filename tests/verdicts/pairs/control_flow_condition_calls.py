"""An edited condition calls a helper: the line of the `if`, and not the helper's `def`."""

GOOD = r'''
import torch


class Cache:
    def __init__(self):
        self.seen = 0

    def length(self):
        return self.seen


def mask_of(x, mask, cache):
    if x.shape[1] == 1:
        return None
    return mask[:, -x.shape[1]:]


def run(x, mask, cache):
    kept = mask_of(x, mask, cache)
    if kept is not None:
        x = x * kept
    return x


cache = Cache()
n = cache.length()
mask = torch.tensor([[0., 1., 1.], [1., 1., 1.]])
first = run(torch.ones(2, 3), mask, cache)
cache.seen = 3
second = run(torch.ones(2, 3), mask, cache)
'''
BAD = r'''
import torch


class Cache:
    def __init__(self):
        self.seen = 0

    def length(self):
        return self.seen


def mask_of(x, mask, cache):
    if cache is not None and cache.length() > 0:  # HERE
        return None
    return mask[:, -x.shape[1]:]


def run(x, mask, cache):
    kept = mask_of(x, mask, cache)
    if kept is not None:
        x = x * kept
    return x


cache = Cache()
n = cache.length()
mask = torch.tensor([[0., 1., 1.], [1., 1., 1.]])
first = run(torch.ones(2, 3), mask, cache)
cache.seen = 3
second = run(torch.ones(2, 3), mask, cache)
'''
IS_FLOW = True
