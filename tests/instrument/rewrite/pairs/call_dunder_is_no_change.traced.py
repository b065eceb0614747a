_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cf5a48f52f6557ee0687e8810130658e _mt call_dunder_is_no_change.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a,-1~m__init__;r0. m1=a=b,-2,-2.1~m__setitem__;r0kr1. .');  # Call dunder is no change.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.__init__(); _mt and _mt(1, a)
    a.__setitem__(0, b); _mt and _mt(2, a, b)
    pass
