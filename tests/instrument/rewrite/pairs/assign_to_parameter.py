# Assign to parameter.
def f(a, b):
    a = a * b
    pass
