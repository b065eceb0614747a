# Name of an exception.
def f(a, b):
    try:
        a()
    except ValueError as e:
        c = e
    else:
        e = b
    return e
