_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d2f21301fd8484bced94cfeb9b357e92 _mt call_in_place_yield.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=+a.x,0,-1.1~madd_;r0k. .');  # Call in place yield.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x.add_((yield b)); _mt and _mt(1, a)
    pass
