# Assign semicolon at end.
def f(a, b):
    c = a;
    pass
