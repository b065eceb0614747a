_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 37fa083f428ce35f3b32cef65aed1b21 _mt while_else.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 l1,c~r0 a1:9.1=c,c~pr0k. b1:5!1?e60c2c52 a1:9.2=c,-5.1~r0 r1:5=return,c~r0 .');  # While else.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    while (c) and not (_mt and _mt(2)):
        c -= 1; not (_mt and _mt(3, c))
    else:
        not (_mt and _mt(4)); c = b; not (_mt and _mt(5, c))
    not (_mt and _mt(6, c)); return c
