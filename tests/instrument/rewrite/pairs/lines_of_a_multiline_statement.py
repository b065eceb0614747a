# Lines of a multiline statement.
def f(a):
    b = g(
        a,
        1,
    )
    c = b
    return c
