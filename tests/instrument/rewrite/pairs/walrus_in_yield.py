# Walrus in yield.
def f(a, b):
    yield (n := a)
    c = yield (m := b)
    pass
