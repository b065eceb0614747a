# With one line.
def f(a, b):
    with a as c: d = c
    return b
