# Call starred arguments.
def f(a, b):
    print(*a, **b)
    a.add_(*b)
    pass
