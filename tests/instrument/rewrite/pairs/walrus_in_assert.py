# Walrus in assert.
def f(a, b):
    assert (n := a), n
    pass
