# Delete attribute.
def f(a, b):
    del a.x, a.y
    pass
