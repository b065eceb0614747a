# Return tuple trailing comma.
def f(a, b):
    return a,
