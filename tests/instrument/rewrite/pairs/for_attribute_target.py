# For attribute target.
def f(a, b):
    for b.x in a:
        pass
    return b
