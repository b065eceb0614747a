# If one line several.
def f(a, b):
    if a: c = 1; d = 2;
    return b
