# Assign self read.
def f(a, b):
    c = a
    c = c + 1
    c = c + b
    pass
