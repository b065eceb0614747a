# Annotated subscript.
def f(a, b):
    a[0]: int = b
    pass
