# Match wildcard.
def f(a, b):
    match a:
        case 1:
            return 2
        case _:
            return b
