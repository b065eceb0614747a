"""What was bound before: globals, arguments, attributes and containers that no followed line made."""
import types

import numpy as np

SCALE = np.array([2, 3, 5])
held = types.SimpleNamespace(weight=np.array([1, 0, 1]), inner=types.SimpleNamespace(bias=SCALE + 1))
table = {"offset": np.array([7, 7, 7])}
x = np.arange(3)


def scale(v):
    scaled = v * SCALE
    return scaled


def move(v, by):
    return v + by, v - by


class Layer:
    def __init__(self):
        self.weight = np.array([1, 2, 3])
        self.calls = np.zeros(1, dtype=np.int64)

    def __call__(self, v):
        self.calls += 1
        return v * self.weight


layer = Layer()
# begin
out = scale(x)
up, down = move(out, by=held.weight)
moved = up + held.inner.bias - table["offset"]
x += 1
both = layer(layer(x)) + down
held.weight[0] = 9
end = moved + held.weight + both
# end
