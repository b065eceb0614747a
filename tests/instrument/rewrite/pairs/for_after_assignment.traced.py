_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f9fee218b6d83aba99e2cd6a22fdb7a0 _mt for_after_assignment.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 l1=d,-1~er0 a1:9=e,-1~r0 r1:5=return,-4.1~r0 .');  # For after assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    for d in c:
        not (_mt and _mt(2, d)); e = d; not (_mt and _mt(3, e))
    not (_mt and _mt(4, b)); return b
