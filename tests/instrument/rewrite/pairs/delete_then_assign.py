# Delete then assign.
def f(a, b):
    c = a
    del c
    c = b
    return c
