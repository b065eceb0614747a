# Enter docstring only.
def f(a, b):
    """What f does."""
