# Return in loop.
def f(a, b):
    for c in a:
        if c: return c + b
    return None
