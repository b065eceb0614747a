# With parenthesised multiline.
def f(a, b):
    with (
        a as d,  # the first
        b,
    ):
        pass
    return d
