# If elif only pending.
def f(a, b):
    if a:
        c = b
    elif b:
        c = a
    if c:
        pass
