# Spy nothing found.
class A:
    def f(self, x):
        return x
