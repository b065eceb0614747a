# Pass after assignment.
def f(a, b):
    c = a
    pass
    return c
