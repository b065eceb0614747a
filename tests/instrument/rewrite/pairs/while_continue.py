# While continue.
def f(a, b):
    c = a
    while c:
        c -= 1
        if c > b: continue
        d = c
    return c
