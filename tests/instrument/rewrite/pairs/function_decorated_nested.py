# Function decorated nested.
def f(a):
    b = a
    @cache(b)
    def g(c):
        return c
    return g
