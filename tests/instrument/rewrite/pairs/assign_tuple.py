# Assign tuple.
def f(a, b):
    c, d = b, a
    pass
