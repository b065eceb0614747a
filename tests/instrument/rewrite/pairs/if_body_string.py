# If body string.
def f(a, b):
    if a:
        'only text'
    return b
