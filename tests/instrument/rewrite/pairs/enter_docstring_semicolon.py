# Enter docstring semicolon.
def f(a, b):
    "What f does."; c = a
    return c
