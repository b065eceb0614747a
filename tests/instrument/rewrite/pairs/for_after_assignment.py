# For after assignment.
def f(a, b):
    c = a
    for d in c:
        e = d
    return b
