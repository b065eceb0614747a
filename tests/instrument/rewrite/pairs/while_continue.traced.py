_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4d242f0fa3175d4e69e8f7191f4c21e8 _mt while_continue.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 l1,c~r0 a1:9.1=c,c~pr0k. b1?eb024a92,-1,-4.1~ur0r1. a1=d,-2~r0 r1:5=return,c~r0 .');  # While continue.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    while (c) and not (_mt and _mt(2)):
        c -= 1; _mt and _mt(3, c)
        if c > b: not (_mt and _mt(4)); continue
        d = c; not (_mt and _mt(5, d))
    not (_mt and _mt(6, c)); return c
