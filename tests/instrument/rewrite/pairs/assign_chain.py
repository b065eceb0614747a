# Assign chain.
def f(a, b):
    c = d = a + b
    pass
