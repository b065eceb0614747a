# For star target.
def f(a, b):
    for c, (d, *e) in a:
        pass
    return b
