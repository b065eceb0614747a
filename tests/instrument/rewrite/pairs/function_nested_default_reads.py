# Function nested default reads.
def f(a):
    b = a
    def g(c=b): return c
    return g
