# Enter string that is no docstring.
def f(a, b):
    f"no {a}"
    return a
