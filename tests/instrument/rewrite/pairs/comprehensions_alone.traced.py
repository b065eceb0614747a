_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ac768e2ab3600e3fa165cba720225aa9 _mt comprehensions_alone.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~gw0r0 a1=g,-1~d?er0. a1=h,-1~gw0r0 a1=i,-1~gw0r0 r1=return,-1~r0 .');  # Comprehensions alone.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = [(d := e) for e in a]; _mt and _mt(1, c)
    g = {e: e for e in c if e}; _mt and _mt(2, g)
    h = {e for e in g}; _mt and _mt(3, h)
    i = (e for e in h); _mt and _mt(4, i)
    not (_mt and _mt(5, i)); return i
