_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d4dabc665766c1665d8597bb6a652376 _mt function_async_generator.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a l1:5=b,-1~er0 r2=-return .');  # Function async generator.
async def f(a):
    async for b in (_mt and _mt(0, a)) or (a):
        not (_mt and _mt(1, b)); yield b
    not (_mt and _mt(2)); return
