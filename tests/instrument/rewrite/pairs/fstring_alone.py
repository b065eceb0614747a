# Fstring alone.
def f(a, b):
    c = f"{a=} {(lambda: b)()} {a!r:{b}}"
    return c
