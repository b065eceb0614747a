# Pep654 except star in loop.
def f(a):
    for b in a:
        try:
            c = b()
        except* ValueError:
            c = 1
    return c
