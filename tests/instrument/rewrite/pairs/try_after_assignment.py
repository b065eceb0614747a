# Try after assignment.
def f(a, b):
    c = a
    try:
        d = c()
    finally:
        pass
    return d
