_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b03439546eb30f7a3096866588b997be _mt with_tuple_target.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d,-1~r0 r2=return,-2.1~r0 .');  # With tuple target.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (a) as (c, d):
        not (_mt and _mt(1, c, d)); pass
    not (_mt and _mt(2, b)); return b
