# Return tuple walrus.
def f(a, b):
    return (c := a), b
