# Assign attribute of call.
def f(a, b):
    a().x = b + 1
    pass
