# Walrus in call.
def f(a, b):
    print(n := a, b)
    pass
