# Comprehensions alone.
def f(a, b):
    c = [(d := e) for e in a]
    g = {e: e for e in c if e}
    h = {e for e in g}
    i = (e for e in h)
    return i
