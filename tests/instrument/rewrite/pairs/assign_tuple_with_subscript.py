# Assign tuple with subscript.
def f(a, b):
    a[0], c = b
    pass
