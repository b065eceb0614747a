_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b94538c1986b3241f1e1f68b320ef5c2 _mt function_generator.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~k a1=c,-1~k r2=return,-1~r0 .');  # Function generator.
def f(a):
    not (_mt and _mt(0, a)); b = yield a; _mt and _mt(1, b)
    c = yield from b; _mt and _mt(2, c)
    yield
    not (_mt and _mt(3, c)); return c
