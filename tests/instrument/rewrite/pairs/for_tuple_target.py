# For tuple target.
def f(a, b):
    for c, d in a:
        pass
    return b
