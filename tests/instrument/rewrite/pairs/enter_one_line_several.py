# Enter one line several.
def f(a): b = a; return b
