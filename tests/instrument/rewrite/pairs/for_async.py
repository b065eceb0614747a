# For async.
async def f(a, b):
    async for c in a:
        d = c
    else:
        d = b
    return d
