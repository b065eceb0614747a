# Try else.
def f(a, b):
    try:
        c = a()
    except ValueError:
        return b
    else:
        d = c
    return d
