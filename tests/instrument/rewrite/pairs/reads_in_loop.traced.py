_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e8e34ac1d766efc2bd4346e5c7207a3c _mt reads_in_loop.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k l1=d,-2~er0 a1:9.1=c,c,-1~pr0r1. r1:5=return,c~r0 .');  # Reads in loop.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = 0; _mt and _mt(1, c)
    for d in a:
        not (_mt and _mt(2, d)); c = c + d; not (_mt and _mt(3, c))
    not (_mt and _mt(4, c)); return c
