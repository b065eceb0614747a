# Match sequence.
def f(a, b):
    match a:
        case [c, d, *e]:
            pass
        case (c, *_):
            pass
    return b
