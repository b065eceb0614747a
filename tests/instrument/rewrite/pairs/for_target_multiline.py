# For target multiline.
def f(a, b):
    for (
        c,
        d,
    ) in a:
        pass
    return c
