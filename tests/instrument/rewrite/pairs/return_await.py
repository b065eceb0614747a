# Return await.
async def f(a, b):
    return await a
