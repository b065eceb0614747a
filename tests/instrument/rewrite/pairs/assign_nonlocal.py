# Assign nonlocal.
def f(a):
    n = a
    def g():
        nonlocal n
        n = n + 1
        return n
    return g
