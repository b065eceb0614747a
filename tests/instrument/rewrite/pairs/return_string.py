# Return string.
def f(a, b):
    return "text"
