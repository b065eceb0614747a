# For one line.
def f(a, b):
    for c in a: d = c
    return b
