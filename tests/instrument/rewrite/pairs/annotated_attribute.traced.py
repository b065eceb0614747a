_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2457df2b1d586ea59d16ad307d88f899 _mt annotated_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a a1:5=self.x,-1.1,-1~pr0k. .');  # Annotated attribute.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x: int = (_mt_t := a + 1); not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
