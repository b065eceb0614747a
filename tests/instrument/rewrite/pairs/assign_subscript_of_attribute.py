# Assign subscript of attribute.
def f(a, b):
    a.x[b] = 1
    pass
