# Match subject tuple.
def f(a, b):
    match a, b:
        case [1, d]: pass
    return a
