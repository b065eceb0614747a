# Assign conditional.
def f(a, b):
    c = a if b else 0
    pass
