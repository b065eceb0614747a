_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2548d48abb9e8e17ab019702e2e4f252 _mt walrus_in_and.py --all 2,4 1,0,<module> 1,0,f e2:1/1*=a=b a1:18=n,-1.1~r0 a:31=m,n.x~r0 l:5,-3,-3.1,0~okokr0r1.r2. .');  # Walrus in and.
def f(a, b):
    while (_mt and _mt(0, a, b)) or ((a and (((n := b) is not _mt and _mt and _mt(1, n) or n)) and (((m := n.x) is not _mt and _mt and _mt(2, m) or m))) and not (_mt and _mt(3))):
        pass
