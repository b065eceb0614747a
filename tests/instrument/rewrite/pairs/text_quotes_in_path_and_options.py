# Text quotes in path and options.
def f(a): return a
