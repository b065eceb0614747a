# Reads free names.
def f(a, b):
    c = a
    def g(): return c + b
    return g
