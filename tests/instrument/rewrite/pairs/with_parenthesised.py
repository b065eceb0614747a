# With parenthesised.
def f(a, b):
    with (a as d, b as e,):
        pass
    return d
