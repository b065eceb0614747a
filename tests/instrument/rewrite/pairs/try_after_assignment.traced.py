_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 92cbf2350d7a9563f64c4951c51f7e6b _mt try_after_assignment.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a2:9=d,-1~cc;r0. r3:5=return,d~r0 .');  # Try after assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    try:
        d = c(); not (_mt and _mt(2, d))
    finally:
        pass
    not (_mt and _mt(3, d)); return d
