"""Every line that runs, and how its function came to be called."""

import numpy as np
from monitorch.tracker import debug_trace, fstack


@fstack
def deep(x):
    return x


@debug_trace
def scale(x, by):
    y = x * by
    if y.sum() > 10:
        print("large")
    else:
        y = -y

    while by > 1:
        by -= 1
    return y


@debug_trace
def main():
    total = 0
    for by in range(1, 3):
        part = scale(np.ones(4), by)
        total += part.sum()
    z = deep(
        total,
    )
    return z


def middle():
    return main()


middle()
