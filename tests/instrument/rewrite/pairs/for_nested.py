# For nested.
def f(a, b):
    for c in a:
        for d in c:
            e = d
    return b
