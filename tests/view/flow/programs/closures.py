"""Inner functions that read and rebind what is around them."""
# begin
import numpy as np


def make_counter(start):
    total = start

    def add(x):
        nonlocal total
        total = total + x
        return total

    def peek():
        copy = total * 1
        return copy

    return add, peek


add, peek = make_counter(np.zeros(3, dtype=np.int64))
one = add(np.array([1, 2, 3]))
two = add(one)
seen = peek()
scaled = (lambda v: v * 2)(seen)
# end
