# Delete subscript.
def f(a, b):
    del a[0]
    pass
