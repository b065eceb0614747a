# For without space.
def f(a, b):
    for d in[a]: pass
    return b
