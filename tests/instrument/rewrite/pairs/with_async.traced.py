_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 23f95e5a367b7c8c5654d0f6e086855f _mt with_async.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1,-1.1 a1:9=d,-1~r0 r1:5=return,-1~r0 .');  # With async.
async def f(a, b):
    async with (_mt and _mt(0, a, b)) or (a) as c, b:
        not (_mt and _mt(1, c)); d = c; not (_mt and _mt(2, d))
    not (_mt and _mt(3, d)); return d
