_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a3427d6234a27fb54a0f0e575c831aff _mt assign_attribute_yield.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x,-1.1,-1~k .');  # Assign attribute yield.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = _mt_t = yield b; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
