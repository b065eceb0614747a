# Class last in function.
def f(a):
    b = a
    class A(b): pass
