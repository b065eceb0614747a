"""Loops of all kinds, with break, continue and else."""
# begin
import numpy as np

x = np.arange(4)
for step in range(5):
    x = x + step
    if step == 3:
        continue
    y = x * 2
else:
    x = x - 1
count = 0
while True:
    count += 1
    y = y - x
    if count == 3:
        break
for index, row in enumerate(np.arange(6).reshape(3, 2)):
    scaled = row * index
    for value in scaled:
        last = scaled + value
for a, b in zip([x, y], [y, x]):
    mixed = a * 3 + b
end = mixed.sum() + last
# end
