# For over yield.
def f(a, b):
    for d in (yield a):
        pass
    return a
