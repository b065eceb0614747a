# Function nested rebinds the name.
def f(a):
    g = a
    b = g
    def g(): return b
    return g
