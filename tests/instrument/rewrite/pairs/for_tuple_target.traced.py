_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1a45440c5a3540cb76f303f277cc860a _mt for_tuple_target.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c=d,-1~er0@0.0@1.1 r2=return,-2.1~r0 .');  # For tuple target.
def f(a, b):
    for c, d in (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1, c, d)); pass
    not (_mt and _mt(2, b)); return b
