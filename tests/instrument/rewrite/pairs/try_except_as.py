# Try except as.
def f(a, b):
    try:
        c = a()
    except ValueError as error:
        c = error
    return c
