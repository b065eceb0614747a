# Module dunder all.
__all__ = ['f']
def f(a): return a
