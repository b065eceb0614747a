_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0db91c79ba4f3e53c475b6e247aea612 _mt for_star_target.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c=d=e,-1~er0@0.0@1.1.0@2.1* r2=return,-2.1~r0 .');  # For star target.
def f(a, b):
    for c, (d, *e) in (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1, c, d, e)); pass
    not (_mt and _mt(2, b)); return b
