# With async.
async def f(a, b):
    async with a as c, b:
        d = c
    return d
