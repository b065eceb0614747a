"""Arrays in lists, dicts and tuples."""
# begin
import numpy as np

kept = {}
kept["x"] = np.arange(3)
kept["y"] = kept["x"] * 2
rows = [kept["x"], kept["y"]]
rows.append(rows[0] + rows[1])
rows[0] = rows[2] - 1
nested = {"deep": [rows[0], (rows[1], rows[2])]}
nested["deep"][0][1] = 7
both = np.stack(rows)
named = dict(first=both[0], second=both[1])
first, second = named["first"], named["second"]
picked = named.pop("first") + second
# end
