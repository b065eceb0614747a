# Walrus in keyword argument.
def f(a, b):
    print(a, sep=(n := b))
    pass
