# Walrus in comprehension first iterable.
def f(a, b):
    c = [x for x in b(a)]
    pass
