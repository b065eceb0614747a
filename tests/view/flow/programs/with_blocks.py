"""Names bound by `with`, several at a time, and a manager that swallows an exception."""
# begin
import contextlib

import numpy as np


@contextlib.contextmanager
def scaled(x, factor):
    bigger = x * factor
    yield bigger
    smaller = bigger // factor
    print(smaller.sum())


class Swallow:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        inside = self.value - 1
        return inside

    def __exit__(self, *exception):
        return True


x = np.arange(4)
with scaled(x, 3) as y, Swallow(y) as z:
    both = y + z
    raise KeyError("swallowed")
with Swallow(both) as (p, q, *rest):
    pair = np.stack([p, q])
done = both + pair.sum()
# end
