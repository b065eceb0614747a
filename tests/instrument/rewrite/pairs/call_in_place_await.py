# Call in place await.
async def f(a, b):
    await a.x.add_(b)
    pass
