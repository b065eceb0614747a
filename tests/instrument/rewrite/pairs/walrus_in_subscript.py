# Walrus in subscript.
def f(a, b):
    c = a[n := b]
    pass
