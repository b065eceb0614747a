_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 44c318d9c189e6dfe6367b64ca7f61d7 _mt walrus_in_await.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:16=n,-1~r0 a:5=c,-2~r0 .');  # Walrus in await.
async def f(a, b):
    not (_mt and _mt(0, a, b)); c = await (((n := a) is not _mt and _mt and _mt(1, n) or n)); _mt and _mt(2, c)
    pass
