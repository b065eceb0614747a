# Walrus short circuit.
def f(a, b):
    c = a and (n := b) or 0
    pass
