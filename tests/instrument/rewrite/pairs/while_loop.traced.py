_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5351f175cd05b17f4cc6087777f01263 _mt while_loop.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 l1,c~r0 a1:9.1=c,c~pr0k. r1:5=return,c~r0 .');  # While loop.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    while (c) and not (_mt and _mt(2)):
        c -= 1; not (_mt and _mt(3, c))
    not (_mt and _mt(4, c)); return c
