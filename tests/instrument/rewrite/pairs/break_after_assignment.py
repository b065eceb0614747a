# Break after assignment.
def f(a, b):
    while a:
        c = b
        break
    return c
