# Walrus in await.
async def f(a, b):
    c = await (n := a)
    pass
