# Locals named.
def f(a, b):
    c = a
    c.x = b + 1
    return sorted(locals())
