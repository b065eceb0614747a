# Return in generator.
def f(a, b):
    yield a
    return b
