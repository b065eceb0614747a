# Match subject negative.
def f(a, b):
    match -a:
        case 1: pass
    return a
