# Walrus in fstring.
def f(a, b):
    c = f"{(n := a)}"
    pass
