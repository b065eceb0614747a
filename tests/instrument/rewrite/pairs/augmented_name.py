# Augmented name.
def f(a, b):
    a += b
    pass
