# Assign tuple star.
def f(a, b):
    c, *d, e = a
    pass
