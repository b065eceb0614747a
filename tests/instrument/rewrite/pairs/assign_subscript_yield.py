# Assign subscript yield.
def f(a, b):
    a.x[0] = yield b
    pass
