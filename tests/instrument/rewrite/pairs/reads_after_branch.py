# Reads after branch.
def f(a, b):
    if a:
        c = 1
    else:
        c = 2
    d = c + b
    return d
