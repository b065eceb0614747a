# Return lambda.
def f(a, b):
    return lambda c: c + a
