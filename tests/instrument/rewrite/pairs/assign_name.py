# Assign name.
def f(a, b):
    c = a + b
    pass
