"""A line that B alone has calls a helper that A calls elsewhere: that line, or the one that reads its result."""

GOOD = r'''
import torch


class Cache:
    def length(self):
        return 3


def scale(positions):
    return 1 + positions.float().log1p()


def attend(x, positions, cache):
    x = x * scale(positions)
    return x


cache = Cache()
n = cache.length()
out = attend(torch.ones(2, 3), torch.tensor([0, 1, 2]), cache)
'''
BAD = r'''
import torch


class Cache:
    def length(self):
        return 3


def scale(positions):
    return 1 + positions.float().log1p()


def attend(x, positions, cache):
    other = torch.arange(3) + cache.length()  # HERE
    x = x * scale(other)  # HERE
    return x


cache = Cache()
n = cache.length()
out = attend(torch.ones(2, 3), torch.tensor([0, 1, 2]), cache)
'''
