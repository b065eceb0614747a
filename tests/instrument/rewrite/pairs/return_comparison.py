# Return comparison.
def f(a, b):
    return 0 < a <= b
