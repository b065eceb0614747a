_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8650d83fac361904f3789f88eb4f2740 _mt call_in_place_await.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=+a.x=b,0,-1.1~madd_;r0r1. .');  # Call in place await.
async def f(a, b):
    not (_mt and _mt(0, a, b)); await a.x.add_(b); _mt and _mt(1, a, b)
    pass
