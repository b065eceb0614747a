# Match subject star.
def f(a, b):
    match *a, b:
        case [d, *_]: pass
    return a
