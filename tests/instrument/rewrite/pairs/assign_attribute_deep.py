# Assign attribute deep.
def f(a, b):
    a.x.y = b + 1
    pass
