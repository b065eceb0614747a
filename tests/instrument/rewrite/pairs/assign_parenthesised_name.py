# Assign parenthesised name.
def f(a, b):
    (c) = a
    pass
