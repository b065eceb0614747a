# Assign semicolons only assignments.
def f(a, b):
    c = a; d = b
    pass
