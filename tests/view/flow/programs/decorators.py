"""Functions behind decorators, with and without arguments."""
# begin
import functools

import numpy as np


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        checked = result + 0
        return checked

    return wrapper


def times(count):
    def decorate(function):
        def repeated(x):
            for _ in range(count):
                x = function(x)
            return x

        return repeated

    return decorate


@logged
def double(x):
    return x * 2


@times(3)
@logged
def increase(x):
    more = x + 1
    return more


start = np.arange(3)
end = increase(double(start))
# end
