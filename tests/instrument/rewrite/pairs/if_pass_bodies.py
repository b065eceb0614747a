# If pass bodies.
def f(a, b):
    if a:
        pass
    elif b:
        pass
