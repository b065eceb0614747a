_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bcb9bf32be7a0947cea4a824532b4cd9 _mt augmented_subscript_of_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=i m1:5=self.x,1,-1.1~pn1r0k.@0! .');  # Augmented subscript of attribute.
def f(self, i):
    not (_mt and _mt(0, self, i)); (_mt_t := self.x)[i] -= 1; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
