# Return parenthesised name.
def f(a, b):
    return (a)
