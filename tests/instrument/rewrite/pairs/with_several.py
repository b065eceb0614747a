# With several.
def f(a, b):
    with a as d, b as e, a:
        pass
    return d
