# Walrus in and.
def f(a, b):
    while a and (n := b) and (m := n.x):
        pass
