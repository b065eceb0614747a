_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e2195d1e0600eb0cd0e25469a0d05cb3 _mt try_finally.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. a2=d,-2.1~r0 r1:5=return,c~r0 .');  # Try finally.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    finally:
        d = b; not (_mt and _mt(2, d))
    not (_mt and _mt(3, c)); return c
