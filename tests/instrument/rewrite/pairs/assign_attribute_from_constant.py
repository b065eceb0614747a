# Assign attribute from constant.
def f(a, b):
    a.x = None
    pass
