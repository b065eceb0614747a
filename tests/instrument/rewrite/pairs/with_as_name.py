# With as name.
def f(a, b):
    with a as c:
        pass
    return b
