_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bad667c8832888141b50cfa72f7e9a5e _mt assign_self_read.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a1.1=c,-1~pr0k. a1.2=c,-1,-3.1~pr0r1. .');  # Assign self read.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    c = c + 1; _mt and _mt(2, c)
    c = c + b; _mt and _mt(3, c)
    pass
