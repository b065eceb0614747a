_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 90303a50b28a0f12de40073ec4cc9ab3 _mt walrus_in_assert.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:13=n,-1~r0 .');  # Walrus in assert.
def f(a, b):
    not (_mt and _mt(0, a, b)); assert (((n := a) is not _mt and _mt and _mt(1, n) or n)), n
    pass
