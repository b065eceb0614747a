# Pep570 positional only.
def f(a, /, b): return a
