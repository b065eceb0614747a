# Locals named method.
def f(a, b):
    c = a.locals
    return c
