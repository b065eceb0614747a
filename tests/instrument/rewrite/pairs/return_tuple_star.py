# Return tuple star.
def f(a, b):
    return *a, b
