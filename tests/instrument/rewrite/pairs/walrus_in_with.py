# Walrus in with.
def f(a, b):
    with (n := a) as c:
        pass
