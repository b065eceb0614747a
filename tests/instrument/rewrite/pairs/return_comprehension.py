# Return comprehension.
def f(a, b):
    return [c for c in a if c]
