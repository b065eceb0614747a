_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 912de2147ffe992d5cfb9a789b055a0b _mt assign_attribute_of_call.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=.x,-1.1,-1~pr0k. .');  # Assign attribute of call.
def f(a, b):
    not (_mt and _mt(0, a, b)); a().x = _mt_t = b + 1; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
