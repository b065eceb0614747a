# Function async generator.
async def f(a):
    async for b in a:
        yield b
    return
