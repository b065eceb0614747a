# Call dunder is no change.
def f(a, b):
    a.__init__()
    a.__setitem__(0, b)
    pass
