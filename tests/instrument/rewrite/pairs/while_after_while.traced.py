_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 dde954de9021f1af619b98f867627212 _mt while_after_while.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 l1,c~r0 a:14.1=c,c~pr0k. l1:5.1,b~r0 a:14=b,b~pr0k. r1:5=return,c~r0 .');  # While after while.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    while (c) and not (_mt and _mt(2)): c -= 1; not (_mt and _mt(3, c))
    while (b) and not (_mt and _mt(4)): b -= 1; not (_mt and _mt(5, b))
    not (_mt and _mt(6, c)); return c
