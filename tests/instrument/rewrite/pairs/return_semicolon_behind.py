# Return semicolon behind.
def f(a, b):
    return a + b;
