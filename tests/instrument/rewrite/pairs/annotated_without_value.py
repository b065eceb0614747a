# Annotated without value.
def f(a, b):
    c: int
    c = a
    pass
