# Augmented global.
def f(a, b):
    global g
    g += a
    pass
