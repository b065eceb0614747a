# Return not.
def f(a, b):
    return not a
