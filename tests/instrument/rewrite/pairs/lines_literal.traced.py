_mt_t = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented; import monitorch
_mt = _mt_t(globals(), 'monitorch2 838741b2a6f0bf99616601cd51c43a79 _mt lines_literal.py --forward 2,3 1,0,<module> 2,0,f e3:1/1=a a2:5=c,b~r0 a1=d,-1~r0 .'); _mt_t = None; monitorch.lines(5, 6)
def f(a):
    not (_mt and _mt(0, a)); b = a
    c = b; _mt and _mt(1, c)
    d = c; _mt and _mt(2, d)
    return d
