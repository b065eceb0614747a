_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 376aa57c460f9880e1abb0f3d9b5a033 _mt walrus_in_for.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:15=n,-1~r0 l:5=c,-2~er0 .');  # Walrus in for.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or ((((n := a) is not _mt and _mt and _mt(1, n) or n))):
        not (_mt and _mt(2, c)); pass
