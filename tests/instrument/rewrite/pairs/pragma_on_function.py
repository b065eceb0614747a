def f(a):
    # monitorch: on
    b = a
    return b

def g(a):
    b = a
    return b
