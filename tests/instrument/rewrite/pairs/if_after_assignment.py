# If after assignment.
def f(a, b):
    c = a
    if c:
        return c
    return b
