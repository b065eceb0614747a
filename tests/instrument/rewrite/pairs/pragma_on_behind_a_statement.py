def f(a):
    b = a
    c = b  # monitorch: on
    d = c
    return d
