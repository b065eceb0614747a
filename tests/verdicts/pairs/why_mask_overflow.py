"""`why`: a mask of -1e10 that becomes -Inf in float16 does no harm, since softmax makes 0 of it. The line that
makes the Inf that reaches the end is named."""
BAD = r'''
import torch


def attend(q, k, keep):
    mask = torch.where(keep, 0.0, -1e10)
    scores = (q @ k.T)
    scores += mask
    return scores.softmax(-1)


q = torch.ones(4, 8).half()
weights = attend(q, q, torch.ones(4, 4, dtype=torch.bool).tril())
big = weights * 60000
h = big * 3  # HERE
'''
