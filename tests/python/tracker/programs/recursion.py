"""Each level of a recursion has an x of its own, and lines of its own indent."""

import numpy as np
from monitorch.tracker import var_tracker


@var_tracker("x", "parts")
def split(x, depth):
    x = x + depth
    if depth == 0:
        return x
    half = len(x) // 2
    parts = [split(x[:half], depth - 1)]
    parts.append(split(x[half:], depth - 1))
    x = np.concatenate(parts)
    return x


def even(n):
    return n == 0 or odd(n - 1)


@var_tracker("n")
def odd(n):
    n = n - 1
    return n >= 0 and even(n)


print(split(np.arange(4.0), 2))
print(odd(3))
