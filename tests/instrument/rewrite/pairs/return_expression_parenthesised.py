# Return expression parenthesised.
def f(a, b):
    return (a + b)
