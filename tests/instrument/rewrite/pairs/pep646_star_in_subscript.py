# Pep646 star in subscript.
def f(*args: *Ts):
    c = args[*args, 1]
    return c
