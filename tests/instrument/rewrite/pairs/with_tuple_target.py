# With tuple target.
def f(a, b):
    with a as (c, d):
        pass
    return b
