# Select nested function by name.
def f(a):
    b = a
    def g(c):
        d = c
        return d
    return g
