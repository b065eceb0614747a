# If elif else.
def f(a, b):
    if a:
        c = 1
    elif b:
        c = 2
    else:
        c = 3
    return c
