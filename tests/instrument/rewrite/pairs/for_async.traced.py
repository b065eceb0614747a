_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 72c3afb14ddff1dba203095725c1f598 _mt for_async.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 a1:9=d,-1~r0 b1:5!1?e40c292c a1:9.1=d,-4.1~r0 r1:5=return,d~r0 .');  # For async.
async def f(a, b):
    async for c in (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1, c)); d = c; not (_mt and _mt(2, d))
    else:
        not (_mt and _mt(3)); d = b; not (_mt and _mt(4, d))
    not (_mt and _mt(5, d)); return d
