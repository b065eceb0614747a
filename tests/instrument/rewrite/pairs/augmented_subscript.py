# Augmented subscript.
def f(a, b):
    a[0] += b
    pass
