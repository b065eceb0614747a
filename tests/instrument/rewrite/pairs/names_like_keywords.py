# Names like keywords.
def f(a, b):
    type = a
    _ = match = case = b
    print(type, match, case)
    return type
