_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c72ecf8ee080a063b52a078aa09c1d07 _mt call_plain_method.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a=b,-1,-1.1~mappend;r0r1. m1=+a.x,0~mresize;r0k. .');  # Call plain method.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.append(b); _mt and _mt(1, a, b)
    a.x.resize(3); _mt and _mt(2, a)
    pass
