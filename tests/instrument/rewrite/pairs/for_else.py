# For else.
def f(a, b):
    for c in a:
        if c: break
    else:
        c = b
    return c
