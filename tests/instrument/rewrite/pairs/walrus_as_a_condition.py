# Walrus as a condition.
def f(a, b):
    c = a if (n := b) else n
    d = (m := a) if b else 0
    pass
