# Annotated parenthesised name.
def f(a, b):
    (c): int = a
    pass
