# Enter bytes that are no docstring.
def f(a, b):
    b"no"
    return a
