# With parenthesised expression.
def f(a, b):
    with (a) as d:
        pass
    return d
