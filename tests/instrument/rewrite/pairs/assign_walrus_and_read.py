# Assign walrus and read.
def f(a, b):
    c = a
    d = c + (c := b)
    return d
