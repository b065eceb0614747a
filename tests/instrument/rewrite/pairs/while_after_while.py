# While after while.
def f(a, b):
    c = a
    while c: c -= 1
    while b: b -= 1
    return c
