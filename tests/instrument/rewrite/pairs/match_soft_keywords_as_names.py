# Match soft keywords as names.
def f(a, b):
    match = a
    case = match
    type = case
    match.x = type
    return match[case]
