_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2fc91307e1bfeabb42521f4d9a159c83 _mt lambda_alone.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k r1=return,-1~r0 .');  # Lambda alone.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = lambda d, e=a: (d := e) if d else e; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
