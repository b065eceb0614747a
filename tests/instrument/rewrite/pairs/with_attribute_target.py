# With attribute target.
def f(a, b):
    with a as b.x:
        pass
    return b
