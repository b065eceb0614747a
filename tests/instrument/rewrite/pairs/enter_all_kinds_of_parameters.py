# Enter all kinds of parameters.
def f(a, b=1, /, c: int = 2, *d, e, f=3, **g):
    return a
