_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 52c71aa3639dd2a9ed746f8f5f423df9 _mt call_private_method.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b m2:5=a,-1~m_;r0. m1.1=a,-2~mb__;r0. .');  # Call private method.
def f(a, b):
    not (_mt and _mt(0, a, b)); a._
    a._(); _mt and _mt(1, a)
    a.b__(); _mt and _mt(2, a)
    pass
