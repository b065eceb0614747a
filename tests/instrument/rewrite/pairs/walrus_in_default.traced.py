# Walrus in default.
def f(a=(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bbfb82f73e18a98847431d30955465e5 _mt walrus_in_default.py --all 2,3 1,0,<module> 1,0,f a2:10=n~k e:1/1=a r1:5=return,-1~r0 .')) and () or ((((n := 3) is not _mt and _mt and _mt(0, n) or n)))):
    not (_mt and _mt(1, a)); not (_mt and _mt(2, a)); return a
