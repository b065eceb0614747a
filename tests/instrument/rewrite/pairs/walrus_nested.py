# Walrus nested.
def f(a, b):
    c = (n := (m := a) + 1)
    pass
