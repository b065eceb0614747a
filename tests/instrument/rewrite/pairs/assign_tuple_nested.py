# Assign tuple nested.
def f(a, b):
    (c, (d, *e)), f = a
    pass
