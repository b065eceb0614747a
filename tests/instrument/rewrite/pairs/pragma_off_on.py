# Pragma off on.
def f(a):
    # monitorch: off
    b = a
    # monitorch: on
    c = b
    return c
