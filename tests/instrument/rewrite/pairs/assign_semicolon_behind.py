# Assign semicolon behind.
def f(a, b):
    c = a; d = b; pass
