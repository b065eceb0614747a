# Prefix in a string.
def f(a):
    b = "_mt"
    return a + b
