# Walrus in comprehension.
def f(a, b):
    c = [n := x for x in a if (m := x)]
    pass
