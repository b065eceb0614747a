# Walrus in for.
def f(a, b):
    for c in (n := a):
        pass
