# Match as.
def f(a, b):
    match a:
        case (1 | 2) as c:
            pass
        case [int() as c, _]:
            pass
    return b
