# Augmented attribute of call.
def f(a, b):
    a().x += b
    pass
