# Enter docstring.
def f(a, b):
    """What f does."""
    c = a
    return c
