# Return multiline.
def f(a, b):
    return (
        a
        + b
    )
