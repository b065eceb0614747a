# Walrus in default.
def f(a=(n := 3)):
    return a
