"""Assignment expressions, comprehensions, lambdas and generator expressions."""
# begin
import numpy as np

x = np.arange(5)
if (y := x + 1).any() and (z := y * 2).any():
    w = y + z
squares = [(v * v) for v in (x, y, z)]
total = sum(part for part in squares)
table = {name: value + 1 for name, value in zip("ab", squares)}
while (total := total - 40).max() > 0:
    rest = total * 1
last = list(map(lambda v: v + 1, [table["a"], table["b"]]))
best = max(last, key=lambda v: v.sum())
both = last[0] + last[1]
# end
