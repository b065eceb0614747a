# Match literal.
def f(a, b):
    match a:
        case 1:
            c = b
        case -1 | 'x' | None:
            c = 2
    return c
