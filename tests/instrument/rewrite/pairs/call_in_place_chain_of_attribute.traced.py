_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f521e4211bc283fce095f0873891fed0 _mt call_in_place_chain_of_attribute.py --all 2,3 1,0,<module> 1,0,f e2:1/1=self=a m1:5=self.x=a,1,-1.1~madd_;mmul_;r0k.r1. m1.1=1=a,1,-2.1~madd_;mmul_;i0r0k.r1. .');  # Call in place chain of attribute.
def f(self, a):
    not (_mt and _mt(0, self, a)); (_mt_t := self.x).mul_(2).add_(a); not (_mt and _mt(1, _mt_t, a)); del _mt_t
    (_mt_t := self.x)[0].mul_(2).add_(a); not (_mt and _mt(2, _mt_t, a)); del _mt_t
    a.b().mul_(2)
    pass
