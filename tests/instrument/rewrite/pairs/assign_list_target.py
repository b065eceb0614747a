# Assign list target.
def f(a, b):
    [c, d] = a
    pass
