# If one line last.
def f(a, b):
    c = b
    if a: c = 1
