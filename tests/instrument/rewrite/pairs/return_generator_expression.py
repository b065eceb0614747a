# Return generator expression.
def f(a, b):
    return (c for c in a)
