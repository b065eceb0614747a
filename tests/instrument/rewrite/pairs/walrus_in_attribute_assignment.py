# Walrus in attribute assignment.
def f(a, b):
    a.x = (n := b) + 1
    a.y[n := 0] = (m := b)
    pass
