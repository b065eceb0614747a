# Assign lambda.
def f(a, b):
    c = lambda d: d + a
    pass
