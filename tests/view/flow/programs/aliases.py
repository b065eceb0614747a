"""Several names of the same memory, written through one of them."""
# begin
import numpy as np

whole = np.arange(12).reshape(3, 4)
also = whole
row = whole[1]
row[2] = 99
column = whole[:, 0]
column += 1
reversed_view = whole[::-1]
copy = whole.copy()
copy[0] = 0
flat = whole.ravel()
flat[-1] = -1
total = also.sum(axis=0) + copy.sum(axis=0)
# end
