# Assign tuple of attributes.
def f(a, b):
    a.x, a.y = b
    pass
