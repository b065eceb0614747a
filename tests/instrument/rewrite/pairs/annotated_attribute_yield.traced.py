_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 97839faf83e12cc52349a6a44eb38fce _mt annotated_attribute_yield.py --all 2,3 1,0,<module> 1,0,f e2:1/1=self=a a1:5=+self.x,-1.1,-1~k a1=+self.y,-2.1,-2~k .');  # Annotated attribute yield.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x: int = yield a; _mt and _mt(1, self)
    self.y: int = (yield a); _mt and _mt(2, self)
    pass
