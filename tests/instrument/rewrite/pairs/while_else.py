# While else.
def f(a, b):
    c = a
    while c:
        c -= 1
    else:
        c = b
    return c
