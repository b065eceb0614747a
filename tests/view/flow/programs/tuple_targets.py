"""Targets that are tuples, nested, chained and swapped."""
# begin
import numpy as np

a, b = np.arange(3), np.ones(3, dtype=np.int64)
a, b = b, a
(c, d), e = (a + 1, b + 2), a - b
f = g = c * d
[h, i] = np.arange(6).reshape(2, 3)
pairs = [(a, b), (c, d)]
for left, (right) in pairs:
    product = left * right
(j, k), l = [f, g], h
m = j + k + l + i + e + product
# end
