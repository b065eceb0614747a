# While loop.
def f(a, b):
    c = a
    while c:
        c -= 1
    return c
