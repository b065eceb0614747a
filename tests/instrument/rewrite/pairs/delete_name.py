# Delete name.
def f(a, b):
    c = a
    del c
    pass
