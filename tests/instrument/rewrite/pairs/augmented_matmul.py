# Augmented matmul.
def f(a, b):
    a @= b
    pass
