# While first statement below docstring.
def f(a, b):
    """Counts down."""
    while a:
        a -= 1
    return a
