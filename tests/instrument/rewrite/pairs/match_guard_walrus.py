# Match guard walrus.
def f(a, b):
    match a:
        case c if (d := c + 1):
            pass
    return b
