_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c351c9e9e8c567a383ed0e00dfc27f5e _mt for_over_yield.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=d,-1~ek r2=return,-2~r0 .');  # For over yield.
def f(a, b):
    for d in (_mt and _mt(0, a, b)) or ((yield a)):
        not (_mt and _mt(1, d)); pass
    not (_mt and _mt(2, a)); return a
