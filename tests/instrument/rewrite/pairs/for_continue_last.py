# For continue last.
def f(a, b):
    for c in a:
        d = c
        continue
    return b
