import monitorch
monitorch.lines(5, 6)
def f(a):
    b = a
    c = b
    d = c
    return d
