# If walrus elif.
def f(a, b):
    if (c := a) > 1:
        return c
    elif (d := b) and c:
        return d
    else:
        return c
