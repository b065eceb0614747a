# Return backslash.
def f(a, b):
    return \
        a + b
