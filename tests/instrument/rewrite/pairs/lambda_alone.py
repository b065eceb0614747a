# Lambda alone.
def f(a, b):
    c = lambda d, e=a: (d := e) if d else e
    return c
