"""Starred targets and arguments."""
# begin
import numpy as np


def gather(first, *rest, scale=1, **named):
    total = first * scale
    for value in rest:
        total = total + value
    for value in named.values():
        total = total - value
    return total


rows = np.arange(12).reshape(4, 3)
head, *tail = rows
*front, last = [head, *tail]
(begin, *middle, end), extra = rows, head
first = gather(*front, scale=2)
second = gather(head, last, **{"less": first, "more": end})
# end
