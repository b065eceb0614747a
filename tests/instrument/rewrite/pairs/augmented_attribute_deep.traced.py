_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8f1baceb292d257d4dc37a7c2230955e _mt augmented_attribute_deep.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a a1:5=+self.x.y,1,-1.1~pr0r1. .');  # Augmented attribute deep.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x.y *= a; _mt and _mt(1, self)
    pass
