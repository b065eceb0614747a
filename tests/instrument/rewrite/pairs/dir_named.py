# Dir named.
def f(a, b):
    return dir() + [a]
