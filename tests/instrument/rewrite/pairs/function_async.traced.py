_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 df580736ff3d887ce034f61bb2bf71c6 _mt function_async.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~r0 r1=return,-1~r0 .');  # Function async.
async def f(a):
    not (_mt and _mt(0, a)); b = await a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
