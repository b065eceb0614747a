_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ff2a3f506ecb8978a0f27e7d71dd9abe _mt augmented_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a a1:5=+self.x,1,-1.1~pr0r1. .');  # Augmented attribute.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x += a; _mt and _mt(1, self)
    pass
