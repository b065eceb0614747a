# Walrus in elif.
def f(a, b):
    if a:
        pass
    elif (n := b):
        pass
