# With parenthesised tuple.
def f(a, b):
    with (a, b):
        pass
    return a
