"""Generators that are asked, sent to, delegated to and closed early."""
# begin
import numpy as np


def counted(x):
    for step in range(3):
        sent = yield x + step
        if sent is not None:
            x = sent
    return x


def delegating(x):
    last = yield from counted(x)
    final = last * 10
    yield final


start = np.array([1, 2])
whole = list(delegating(start))
talker = counted(start)
first = next(talker)
second = talker.send(first * 4)
talker.close()
total = sum(whole) + second
# end
