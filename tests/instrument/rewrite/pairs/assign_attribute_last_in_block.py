# Assign attribute last in block.
def f(a, b):
    a.x = b + 1
