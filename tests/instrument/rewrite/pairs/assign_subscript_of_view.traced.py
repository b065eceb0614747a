# Assign subscript of what a call returns: a view of the method's object, of an argument.
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0789659494e8c13e83deaf8776953afa _mt assign_subscript_of_view.py --all 2,9 1,0,<module> 2,0,f e3:1/1=self=a=b m1:5=a,-1.1~k m1.1=a,-2.1,-2.2~pi0mnumpy;mdetach;r0..r1. m1.2=a,-3.2(np,-3.1~r0 m1=b,-4.2~k m1=+self.w,2~k a1=a=c,-6.1~lkk.@1.1 a1.1=a=c,-7.1~k m1.3=a(f,-8.1,-8.2~k .'); import numpy as np
def f(self, a, b):
    not (_mt and _mt(0, self, a, b)); a.numpy()[0] = 1; _mt and _mt(1, a)
    a.detach().numpy()[0] += b; _mt and _mt(2, a)
    np.asarray(a)[0] = b; _mt and _mt(3, a)
    b["k"].numpy()[0] = 1; _mt and _mt(4, b)
    self.w.numpy()[0] = 1; _mt and _mt(5, self)
    a.numpy()[0], c = 1, 2; _mt and _mt(6, a, c)
    a.numpy()[0] = c = 2; _mt and _mt(7, a, c)
    f(a)(b)[0] = 1; _mt and _mt(8, a)
    pass
