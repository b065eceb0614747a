# Walrus statement.
def f(a, b):
    (n := a)
    pass
