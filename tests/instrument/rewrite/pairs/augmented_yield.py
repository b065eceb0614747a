# Augmented yield.
def f(a, b):
    a += yield b
    pass
