# Return fstring.
def f(a, b):
    return f"{a} {b!r:>{a}}"
