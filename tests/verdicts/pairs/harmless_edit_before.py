"""Of two edits the first changes a value that a softmax brings back: the second one is the cause."""

GOOD = r'''
import torch


def scores(q, k):
    s = q @ k.T
    s = s - 1.0
    p = torch.softmax(s, -1)
    return p


def head(q, k, v):
    p = scores(q, k)
    o = p @ v
    o = o / 2
    return o


torch.manual_seed(0)
out = head(torch.randn(4, 8), torch.randn(4, 8), torch.randn(4, 8))
'''
BAD = GOOD.replace("s = s - 1.0", "s = s - 3.0").replace("o = o / 2", "o = o / 4  # HERE")
