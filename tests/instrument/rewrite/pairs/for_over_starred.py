# For over starred.
def f(a, b):
    for d in *a, b:
        pass
    return a
