# Augmented subscript of call.
def f(a, b):
    a()[0] += b
    pass
