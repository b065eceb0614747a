# Pep695 type alias.
def f(a):
    b = a
    type X[T] = list[T]
    c = b
    return c
