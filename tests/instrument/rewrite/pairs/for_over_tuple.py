# For over tuple.
def f(a, b):
    for d in a, b:
        pass
    return a
