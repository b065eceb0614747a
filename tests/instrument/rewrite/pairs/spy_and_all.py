# Spy and all.
class A:
    def f(self, x):
        q = x
        return q
