# Reads in loop.
def f(a, b):
    c = 0
    for d in a:
        c = c + d
    return c
