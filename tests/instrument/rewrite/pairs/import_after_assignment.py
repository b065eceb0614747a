# Import after assignment.
def f(a, b):
    c = a
    import os
    return os
