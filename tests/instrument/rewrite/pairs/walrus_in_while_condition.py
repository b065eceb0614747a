# Walrus in while condition.
def f(a, b):
    while (n := a()):
        pass
