# While pass body.
def f(a, b):
    c = b
    while a(c):
        pass
    return c
