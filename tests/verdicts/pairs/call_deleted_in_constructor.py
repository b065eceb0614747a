"""A call that a constructor no longer makes: the place where it was, and not the lines of the method, which A alone
ran, nor the line that reads what they wrote."""

GOOD = r'''
import torch


class Cache:
    def __init__(self):
        self.size = 4
        self.reset()
        self.kind = "ring"

    def reset(self):
        self.data = torch.zeros(4)
        self.used = 0

    def put(self, x):
        self.used = self.used + 1
        return x * self.used


class Big(Cache):
    data = torch.ones(4)
    used = 3


c = Big()
out = c.put(torch.arange(4.0)) + c.data
'''
BAD = GOOD.replace("        self.reset()\n", "").replace('"ring"', '"ring"  # HERE')
