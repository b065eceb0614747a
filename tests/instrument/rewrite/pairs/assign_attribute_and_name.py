# Assign attribute and name.
def f(a, b):
    a.x = c = b + 1
    pass
