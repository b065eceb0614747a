"""Calls in calls, in arguments and in returned expressions."""
# begin
import numpy as np


def scale(x, factor):
    scaled = x * factor
    return scaled


def shift(x, offset):
    shifted = x + offset
    return shifted


def both(x):
    return shift(scale(x, 2), 3)


def twice(function, x):
    once = function(x)
    return function(once)


x = np.arange(4)
y = both(scale(shift(x, 1), 2))
z = twice(both, y) + twice(lambda v: v - 1, y)
w = scale(x=shift(offset=2, x=z), factor=2)
# end
