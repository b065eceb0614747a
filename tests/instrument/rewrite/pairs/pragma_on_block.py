def f(a):
    b = a
    if b:
        # monitorch: on
        c = b
        d = c
    e = b
    return e
