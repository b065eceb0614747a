# Await statement.
async def f(a, b):
    await a
    await b.c()
