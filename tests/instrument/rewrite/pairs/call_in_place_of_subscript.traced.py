_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 93f16111d0e1194fcac0f687f5b6a987 _mt call_in_place_of_subscript.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a,-1~mzero_;i0r0. .');  # Call in place of subscript.
def f(a, b):
    not (_mt and _mt(0, a, b)); a[0].zero_(); _mt and _mt(1, a)
    pass
