# Return without space list.
def f(a, b):
    return[a, b]
