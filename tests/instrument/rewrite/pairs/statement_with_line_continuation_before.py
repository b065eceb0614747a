# Statement with line continuation before.
def f(a, b):
    if a: \
        c = b
    d = \
        c
    return d
