# Import in function.
def f(a, b):
    import os, sys as system
    from a.b import c as d, e
    f = d
    return e
