_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0c6fba6aef53f569ea55dceb3272403c _mt locals_named.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a1=+c.x,-2.1,-1~pr0k. r1=-return(sorted(locals~heclocals;k. .');  # Locals named.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    c.x = b + 1; _mt and _mt(2, c)
    not (_mt and _mt(3)); return sorted(locals())
