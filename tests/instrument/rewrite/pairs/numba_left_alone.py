# Numba left alone.
import numba
from numba import njit

@numba.jit(nopython=True)
def f(a):
    b = a
    return b

@njit
def g(a):
    b = a
    return b
