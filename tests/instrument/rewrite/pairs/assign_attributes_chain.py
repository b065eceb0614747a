# Assign attributes chain.
def f(a, b):
    a.x = a.y = b + 1
    pass
