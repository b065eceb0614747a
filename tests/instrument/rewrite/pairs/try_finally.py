# Try finally.
def f(a, b):
    try:
        c = a()
    finally:
        d = b
    return c
