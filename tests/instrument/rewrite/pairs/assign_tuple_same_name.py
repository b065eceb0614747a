# Assign tuple same name.
def f(a, b):
    c, c = a
    pass
