# Walrus with a tuple value.
def f(a, b):
    (n := (a, b))
    c = [m := a, b]
    pass
