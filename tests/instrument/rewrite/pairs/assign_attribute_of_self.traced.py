_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1bfe92082afad6cadd82e4d41dd4bf24 _mt assign_attribute_of_self.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a=b a1:5=self.x,-1.1,-1.2,-1~pr0r1. .');  # Assign attribute of self.
def f(self, a, b):
    not (_mt and _mt(0, self, a, b)); self.x = _mt_t = a @ b; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
