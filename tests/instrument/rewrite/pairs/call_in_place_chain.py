# Call in place chain.
def f(a, b):
    a.add_(1).mul_(b)
    pass
