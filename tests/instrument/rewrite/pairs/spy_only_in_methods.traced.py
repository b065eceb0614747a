from monitorch.spy import spy_save;  # Spy only in methods.
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
        q = x; spy_save("q", q, cls)
        return q
    def i(this, x):
        q = x; spy_save("q", q, this)
        return q
