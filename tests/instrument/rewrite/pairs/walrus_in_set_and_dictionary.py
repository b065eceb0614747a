# Walrus in set and dictionary.
def f(a, b):
    c = {n := a, b}
    d = {1: (m := a)}
    pass
