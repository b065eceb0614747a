# Return walrus whole.
def f(a, b):
    return (c := a + b)
