# Comment only lines in bodies.
def f(a, b):
    if a:
        # first
        c = 1  # one
        # last
    # out
    else:
        # other
        c = 2
    return c
