# Walrus in if.
def f(a, b):
    if (n := a):
        pass
    return b
