# Return without space string.
def f(a, b):
    return"text".join(a)
