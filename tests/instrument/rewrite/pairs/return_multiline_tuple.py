# Return multiline tuple.
def f(a, b):
    return (
        a,
        b,
    )
