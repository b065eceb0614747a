# Except pass.
def f(a, b):
    try:
        c = a()
    except ValueError as error: pass
    return b
