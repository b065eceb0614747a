# Assign attribute from name.
def f(a, b):
    a.x = b
    pass
