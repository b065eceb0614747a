_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d693edc0917e09336df7db962933cb2a _mt import_in_function.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a3:5=f,d~r0 r1=return,e~r0 .');  # Import in function.
def f(a, b):
    not (_mt and _mt(0, a, b)); import os, sys as system
    from a.b import c as d, e
    f = d; _mt and _mt(1, f)
    not (_mt and _mt(2, e)); return e
