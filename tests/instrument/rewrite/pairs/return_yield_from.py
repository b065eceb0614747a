# Return yield from.
def f(a, b):
    return (yield from a)
