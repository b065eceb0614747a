# Class in class.
class A:
    class B:
        def f(self, a):
            return a
