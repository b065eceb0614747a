# If lambda condition.
def f(a, b):
    if lambda: a:
        return 1
    return 2
