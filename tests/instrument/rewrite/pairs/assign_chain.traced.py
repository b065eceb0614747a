_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 da01d2d760831e10c31a4310be081791 _mt assign_chain.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d,-1,-1.1~pr0r1. .');  # Assign chain.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = d = a + b; _mt and _mt(1, c, d)
    pass
