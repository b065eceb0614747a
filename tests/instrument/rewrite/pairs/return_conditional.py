# Return conditional.
def f(a, b):
    return a if b else None
