# Raise statement.
def f(a, b):
    try:
        raise ValueError(a)
    except ValueError as error:
        raise TypeError from error
