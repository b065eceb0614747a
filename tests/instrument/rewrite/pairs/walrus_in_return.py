# Walrus in return.
def f(a, b):
    return (n := a) + n
