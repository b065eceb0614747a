# Annotated name.
def f(a, b):
    c: int = a + b
    pass
