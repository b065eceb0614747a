# Vars named.
def f(a, b):
    c = vars()
    return c
