# Assign subscript of subscript.
def f(a, b):
    a[0][1] = b
    pass
