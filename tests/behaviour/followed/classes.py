class A:
    attr = 1
    items = []
    def __init__(self, x):
        self.x = x
        self.y = x + 1
        self.z, self.w = x, 1
        self.__private = x + 3
        self.__private += 1
        __local = 4
        self.p = x
        self.child = None
        self.items = [x]
    @property
    def p(self): return self._p
    @p.setter
    def p(self, value): self._p = value + 1
    @staticmethod
    def s(x): return x
    @classmethod
    def c(cls, x):
        cls.attr = x
        return cls(x)
    def chain(self):
        self.child = A(1)
        self.child.x = 5
        self.child.x += 2
        self.items[0] = 3
        self.child.items[0] += 3
        self.items.append(4)
        self.items.sort()
        return self
    class B:
        def f(self, x): y = x; return y
a = A(1)
A.s(2); A.c(3); a.chain().x
A.B().f(1)
class Slots:
    __slots__ = ("u",)
    def __init__(self): self.u = 3
Slots()
def local():
    class C:
        x = 1
        def m(self): z = 3; return z
    return C().m()
local()
