# Return semicolon before.
def f(a, b):
    c = a; return c + b
