_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2b99c82a55fb2e1dbc57b844f7ff9d11 _mt name_underscore.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=_=c,-1~r0@0.0@1.1 l1,-1.1~er0 r1=return,_~r0 .');  # Name underscore.
def f(a, b):
    not (_mt and _mt(0, a, b)); _, c = a; _mt and _mt(1, _, c)
    for _ in c: not (_mt and _mt(2)); pass
    not (_mt and _mt(3, _)); return _
