# Damaged function left alone.
def f(a):
    b = a
    return b

def g(a):
    b = a ? 1 : 2
    return b

def h(a):
    b = a
    return b
