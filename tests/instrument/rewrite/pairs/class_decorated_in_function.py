# Class decorated in function.
def f(a):
    b = a
    @register(b)
    class A: pass
    return A
