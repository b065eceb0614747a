# If not condition.
def f(a, b):
    if not a:
        return 1
    return 2
