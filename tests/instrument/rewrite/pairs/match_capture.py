# Match capture.
def f(a, b):
    match a:
        case c:
            pass
    return b
