"""Parameters of all kinds, defaults and globals."""
# begin
import numpy as np

offset = np.array([1, 1, 1])
counter = np.zeros(3, dtype=np.int64)


def mixed(a, b=offset, /, c=None, *, d, e=offset):
    global counter
    if c is None:
        c = a + b
    counter = counter + d
    result = c * d - e
    return result


def untouched(x):
    return x


x = np.arange(3)
one = mixed(x, d=x)
two = mixed(x, one, d=offset, e=one)
three = untouched(mixed(two, two, two, d=counter))
four: np.ndarray = untouched(x=three)
# end
