# Pep695 generic function.
def f[T: int, *Ts, **P](a: T) -> T:
    b = a
    return b
