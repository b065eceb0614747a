# Assign backslash.
def f(a, b):
    c = a + \
        b
    pass
