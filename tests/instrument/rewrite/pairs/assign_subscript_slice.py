# Assign subscript slice.
def f(a, b):
    a[1:, ..., None] = b + 1
    pass
