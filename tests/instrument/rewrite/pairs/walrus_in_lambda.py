# Walrus in lambda.
def f(a, b):
    c = lambda: (n := a)
    pass
