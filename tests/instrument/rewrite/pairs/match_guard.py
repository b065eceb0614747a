# Match guard.
def f(a, b):
    match a:
        case [c, d] if c < d:
            pass
    return b
