_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 68e9b2ed0edba31a94287c9b9a8a6587 _mt assign_attribute_await.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x,-1.1,-1~r0 .');  # Assign attribute await.
async def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = _mt_t = await b; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
