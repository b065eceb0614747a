"""A function that calls itself: its calls stand in each other."""
# begin
import numpy as np


def halve_until_small(x, depth):
    half = x // 2
    if depth == 0 or half.max() < 2:
        return half
    deeper = halve_until_small(half, depth - 1)
    both = deeper + half
    return both


start = np.arange(8) * 8
result = halve_until_small(start, 3)
# end
