# Spy import is there.
from monitorch.spy import spy_save

class A:
    def f(self, x):
        q = x
        spy_save("q", q, self)
        return q
