# Assign name last in block.
def f(a, b):
    c = a + b
