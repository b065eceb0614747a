"""Conditions, conditional expressions, `match` and short circuits."""
# begin
import numpy as np


def choose(x, kind):
    if kind == "add":
        y = x + 1
    elif kind == "take":
        y = x - 1
    else:
        y = x * 1
    match kind:
        case "add":
            z = y * 10
        case str() as word if len(word) > 4:
            z = y * 20
        case _:
            z = y * 30
    best = z if z.sum() > y.sum() else y
    return best


x = np.arange(1, 4)
one = choose(x, "add")
two = choose(one, "take")
three = choose(two, "nothing")
either = None or three + 1
assert (n := either.sum()) > 0
# end
