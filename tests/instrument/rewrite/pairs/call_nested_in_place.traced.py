_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9eac415f4af1ba7aa241556a171ad83f _mt call_nested_in_place.py --all 2,3 1,0,<module> 1,0,f e2:1/1=self=a=b a2:5=self.x,-1.1,-1.2,-1~mmul_;r0r1. r1=return,-2.1~mrelu_;r0. .');  # Call nested in place.
def f(self, a, b):
    not (_mt and _mt(0, self, a, b)); print(a.add_(b))
    self.x = _mt_t = a.mul_(b); not (_mt and _mt(1, _mt_t)); del _mt_t
    return (_mt_v := ( a.relu_())) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
