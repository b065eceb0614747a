# Return with pending assignment.
def f(a, b):
    c = a
    return c
