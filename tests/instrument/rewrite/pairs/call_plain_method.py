# Call plain method.
def f(a, b):
    a.append(b)
    a.x.resize(3)
    pass
