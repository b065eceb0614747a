# Yield statement.
def f(a, b):
    yield
    yield a
    yield from b
    yield a, b
