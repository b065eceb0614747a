"""What test_program.py instruments and runs: no more than Python itself is needed."""

from concurrent.futures import ThreadPoolExecutor


def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


def numbers(limit):
    n = 0
    while n < limit:
        yield n
        n += 1


def total(limit):
    result = 0
    for n in numbers(limit):
        result += n
    return result


def fail(text):
    try:
        value = int(text)
    except ValueError as error:
        value = None
        raise KeyError(text) from error
    return value


class Point:
    def __init__(self, x):
        self.x = x

    def move(self, by):
        self.x += by
        points = {"a": (1, 2.5), "b": [self.x]}
        points["c"] = b"bytes"
        return points


async def wait(n):
    return n


async def wait_for_two():
    first = await wait(1)
    second = await wait(2)
    return first + second


def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def main():
    common = gcd(12, 18)
    added = total(3)
    try:
        fail("x")
    except KeyError as error:
        seen = str(error)
    moved = Point(1).move(2)
    waited = drive(wait_for_two())
    in_thread = ThreadPoolExecutor(1, "worker").submit(total, 2).result()
    return common, added, seen, moved, waited, in_thread


main()
