# Function async.
async def f(a):
    b = await a
    return b
