# With no target.
def f(a, b):
    with a:
        c = b
    return b
