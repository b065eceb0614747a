# For first statement.
def f(a, b):
    for c in a: pass
