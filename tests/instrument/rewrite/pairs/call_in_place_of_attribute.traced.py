_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 162e89cb86c191170cf7ffa9c62d3301 _mt call_in_place_of_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a m1:5=self.x=a,1,-1.1~madd_;r0r1. .');  # Call in place of attribute.
def f(self, a):
    not (_mt and _mt(0, self, a)); (_mt_t := self.x).add_(a); not (_mt and _mt(1, _mt_t, a)); del _mt_t
    pass
