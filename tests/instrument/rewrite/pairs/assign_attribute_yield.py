# Assign attribute yield.
def f(a, b):
    a.x = yield b
    pass
