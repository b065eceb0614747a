_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 acc26c04dabfb2816b7db40b1754a042 _mt call_out_keyword_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a m1:5=torch=a=self.x(1,-1.1,2~madd;r0r1r1=out;r2. .');  # Call out keyword attribute.
def f(self, a):
    not (_mt and _mt(0, self, a)); torch.add(a, a, out=(_mt_t := self.x)); not (_mt and _mt(1, torch, a, _mt_t)); del _mt_t
    pass
