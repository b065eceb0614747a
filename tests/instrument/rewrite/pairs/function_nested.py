# Function nested.
def f(a):
    def g(b):
        c = a + b
        return c
    return g
