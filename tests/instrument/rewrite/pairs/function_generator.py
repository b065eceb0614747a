# Function generator.
def f(a):
    b = yield a
    c = yield from b
    yield
    return c
