# Return nothing.
def f(a, b):
    return
