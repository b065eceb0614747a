"""Coroutines that give way to each other, and an asynchronous generator."""

import asyncio

import numpy as np
from monitorch.tracker import auto_diff, var_tracker


@var_tracker("x")
async def work(x, add):
    x = x + add
    await asyncio.sleep(0)
    x = x * 2
    x = await helper(x)
    return x


@auto_diff
async def helper(value):
    await asyncio.sleep(0)
    return value - 1


@var_tracker("x")
async def stream(x):
    for _ in range(2):
        x = x + 1
        yield x


@auto_diff
async def fails():
    await asyncio.sleep(0)
    raise TimeoutError("late")


async def main():
    print(await asyncio.gather(work(np.zeros(1), 1), work(np.zeros(1), 5)))
    async for value in stream(np.zeros(1)):
        print(value)
    try:
        await fails()
    except TimeoutError as error:
        print(error)


asyncio.run(main())
