_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e25210da4358167e0d6be0bffd5ca290 _mt walrus_statement.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:6=n,-1~r0 .');  # Walrus statement.
def f(a, b):
    not (_mt and _mt(0, a, b)); (((n := a) is not _mt and _mt and _mt(1, n) or n))
    pass
