# If conditional condition.
def f(a, b):
    if a if b else a:
        return 1
    return 2
