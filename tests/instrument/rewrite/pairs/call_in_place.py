# Call in place.
def f(a, b):
    a.add_(b)
    pass
