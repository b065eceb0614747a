# Match after assignment.
def f(a, b):
    c = a
    match c:
        case 1: d = b
    return c
