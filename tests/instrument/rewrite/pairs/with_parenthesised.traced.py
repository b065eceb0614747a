_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 87d596e7664d97db9e688ab3c645198b _mt with_parenthesised.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=d=e,-1,-1.1 r2=return,-1~r0 .');  # With parenthesised.
def f(a, b):
    with ((_mt and _mt(0, a, b)) or (a) as d, b as e,):
        not (_mt and _mt(1, d, e)); pass
    not (_mt and _mt(2, d)); return d
