# Return yield.
def f(a, b):
    return (yield a)
