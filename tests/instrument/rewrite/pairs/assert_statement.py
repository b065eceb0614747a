# Assert statement.
def f(a, b):
    c = a
    assert c, b
    return c
