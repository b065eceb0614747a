# Delete tuple.
def f(a, b):
    c = d = a
    del (c, d), b
    pass
