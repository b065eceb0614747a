"""Coroutines that wait for each other, and an asynchronous generator."""
# begin
import asyncio

import numpy as np


async def add_later(x, number):
    await asyncio.sleep(0)
    added = x + number
    return added


async def numbers(x):
    for step in range(2):
        each = x * step
        yield each


async def main():
    x = np.arange(3)
    one = await add_later(x, 1)
    two, three = await asyncio.gather(add_later(one, 10), add_later(one, 20))
    total = two + three
    async for part in numbers(total):
        total = total - part
    return total


answer = asyncio.run(main())
# end
