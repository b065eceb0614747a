"""Memory that is written to under its name."""
# begin
import numpy as np

x = np.arange(6)
x += 10
x[0] = 100
x[1:3] *= 2
np.add(x, 1, out=x)
y = x.reshape(2, 3)
y[:, 0] -= 5
x.sort()


def fill(target, value):
    target[...] = value
    target[-1] += 1
    return target


z = np.zeros(4, dtype=np.int64)
same = fill(z, 7)
w = z - same
# end
