_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 512e6db94e0490f1285cf0f25d1e5fea _mt delete_then_assign.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a2.1=c,-2.1~r0 r1=return,-1~r0 .');  # Delete then assign.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    del c
    c = b; _mt and _mt(2, c)
    not (_mt and _mt(3, c)); return c
