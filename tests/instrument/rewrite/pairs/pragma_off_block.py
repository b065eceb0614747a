# Pragma off block.
def f(a):
    b = a
    if b:
        c = b
        # monitorch: off
        d = c
    e = b
    return e
