import asyncio
class CM:
    async def __aenter__(self): return 3
    async def __aexit__(self, *a): return False
async def ticker(n):
    for i in range(n):
        y = i
        yield y
        await asyncio.sleep(0)
async def work(x):
    await asyncio.sleep(0)
    y = x + 1
    return y
async def main():
    async with CM() as c:
        d = c
    async for t in ticker(3):
        u = t
    else:
        z = 1
    r = await asyncio.gather(work(1), work(2))
    a = await work(3)
    l = [1]
    b = [x async for x in ticker(2)]
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.001)
    except asyncio.TimeoutError:
        e = 1
    return r
print(asyncio.run(main()))
