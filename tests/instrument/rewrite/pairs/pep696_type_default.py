# Pep696 type default.
def f[T = int](a: T):
    return a
