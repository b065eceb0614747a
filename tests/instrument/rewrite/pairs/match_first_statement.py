# Match first statement.
def f(a, b):
    match a:
        case 1: return b
