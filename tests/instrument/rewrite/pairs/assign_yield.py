# Assign yield.
def f(a, b):
    c = yield a
    pass
