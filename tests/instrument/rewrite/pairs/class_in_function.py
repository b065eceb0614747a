# Class in function.
def f(a):
    b = a
    class A:
        c = b
        def g(self):
            return self.c
    return A
