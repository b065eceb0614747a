# If one line.
def f(a, b):
    if a: c = 1
    else: c = 2
    return c
