# Walrus in not.
def f(a, b):
    if not (n := a): return b
    return n
