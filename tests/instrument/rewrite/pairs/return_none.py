# Return none.
def f(a, b):
    return None
