# Spy only in methods.
def f(x):
    q = x
    return q

class A:
    @staticmethod
    def g(x):
        q = x
        return q
    @classmethod
    def h(cls, x):
        q = x
        return q
    def i(this, x):
        q = x
        return q
