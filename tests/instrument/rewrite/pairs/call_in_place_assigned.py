# Call in place assigned.
def f(a, b):
    c = a.add_(b)
    pass
