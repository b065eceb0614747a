_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b9f4247d8ce2913ed5f5a2eba3ad9f64 _mt walrus_in_if.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:9=n,-1~r0 b:5?b022a911,-2~r0 r2=return,-3.1~r0 .');  # Walrus in if.
def f(a, b):
    if (_mt and _mt(0, a, b)) or ((((n := a) is not _mt and _mt and _mt(1, n) or n))):
        not (_mt and _mt(2)); pass
    not (_mt and _mt(3, b)); return b
