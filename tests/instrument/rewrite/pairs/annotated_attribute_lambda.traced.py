_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 be15f1378e8915df81fa18ddbe94479b _mt annotated_attribute_lambda.py --all 2,5 1,0,<module> 1,0,f e2:1/1=self=a a1:5=self.x,-1~k a1=self.y,-2.1,-2~or0r0k. a1:23=b,-3.1~r0 a:5=self.z,-4.1,-4~r0 .');  # Annotated attribute lambda.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x: object = (_mt_t := lambda: a); not (_mt and _mt(1, _mt_t)); del _mt_t
    self.y: object = (_mt_t := a if a else 0); not (_mt and _mt(2, _mt_t)); del _mt_t
    self.z: object = (_mt_t := (((b := a) is not _mt and _mt and _mt(3, b) or b))); not (_mt and _mt(4, _mt_t)); del _mt_t
    pass
