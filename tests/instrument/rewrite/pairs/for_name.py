# For name.
def f(a, b):
    for c in a:
        pass
    return b
