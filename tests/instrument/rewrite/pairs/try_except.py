# Try except.
def f(a, b):
    try:
        c = a()
    except ValueError:
        c = b
    return c
