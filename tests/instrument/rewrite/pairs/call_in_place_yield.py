# Call in place yield.
def f(a, b):
    a.x.add_((yield b))
    pass
