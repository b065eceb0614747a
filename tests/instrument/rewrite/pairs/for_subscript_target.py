# For subscript target.
def f(a, b):
    for b[0] in a:
        pass
    return b
