# If first statement.
def f(a, b):
    if a: return b
    return a
