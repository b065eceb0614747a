# Assign tuple with attribute.
def f(a, b):
    a.x, c = b
    pass
