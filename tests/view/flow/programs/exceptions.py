"""Lines that raise, are caught, are cleaned up after, and go on."""
# begin
import numpy as np


def take_row(table, row):
    wanted = table[row]
    doubled = wanted * 2
    return doubled


def careful(table, row):
    try:
        found = take_row(table, row)
    except IndexError as error:
        found = np.zeros(3, dtype=np.int64)
        words = str(error)
    else:
        found = found + 1
    finally:
        last = table[-1]
    return found - last


table = np.arange(6).reshape(2, 3)
good = careful(table, 1)
bad = careful(table, 5)
try:
    broken = good @ np.ones((4, 4))
except ValueError:
    broken = good
after = broken + bad
# end
