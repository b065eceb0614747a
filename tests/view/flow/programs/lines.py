"""Statements over several lines, and several statements on one line."""
# begin
import numpy as np

x = np.arange(
    4
); y = x + 1; z = (
    x
    * y
)
a, b = \
    x, \
    y
table = {
    "sum": x + y,
    "product":
        x * y,
}
if x.any(): c = z + 1; d = c * 2
else: c = z; d = z
def short(v): w = v + 1; return w
class Held: value = x + 2; other = value * 2
e = short(c) + short(
    v=d,
)
for i in range(2): f = e + i; g = f * 2
text = """
a string over lines
"""; h = g - table["sum"]
# end
