# Except star.
def f(a, b):
    try:
        c = a()
    except* ValueError as group:
        c = group
    except* TypeError:
        c = b
    return c
