_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5794f0436f503a5b2a7232b1e2cd169b _mt walrus_in_call.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:11=n,-1~r0 m:5=b(print,-2,-2.1~ur1r2. .');  # Walrus in call.
def f(a, b):
    not (_mt and _mt(0, a, b)); print(((n := a) is not _mt and _mt and _mt(1, n) or n), b); _mt and _mt(2, b)
    pass
