# Return without space minus.
def f(a, b):
    return-a
