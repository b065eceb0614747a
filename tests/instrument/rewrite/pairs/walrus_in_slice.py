# Walrus in slice.
def f(a, b):
    c = a[(n := 0):(m := b)]
    pass
