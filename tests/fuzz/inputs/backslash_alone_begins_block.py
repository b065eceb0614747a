def f(a):
    \
    x = a
    y = x
    return y
