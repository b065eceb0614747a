# Return bare name.
def f(a, b):
    return a
