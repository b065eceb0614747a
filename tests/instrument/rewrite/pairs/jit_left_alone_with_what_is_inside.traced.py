# Jit left alone with what is inside.
from torch import jit

@jit.script
def f(a):
    def g(b):
        c = b
        return c
    return g(a)
