_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e7fd6428cbff435c6ee077155aacf2ac _mt annotated_attribute_multiline.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a a1:5=self.x,-1.1,-1~lr0. .');  # Annotated attribute multiline.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x: list[
        int
    ] = (_mt_t := [
        a,
    ]); not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
