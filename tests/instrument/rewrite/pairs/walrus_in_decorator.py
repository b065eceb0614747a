# Walrus in decorator.
def f(a, b):
    @(n := a)
    def g(): pass
    return n
