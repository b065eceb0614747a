_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9e5d3bb4e58049c8d3084314163e7591 _mt await_statement.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m2:5=b,-1.1~mc;r0. .');  # Await statement.
async def f(a, b):
    not (_mt and _mt(0, a, b)); await a
    await b.c(); not (_mt and _mt(1, b))
