"""Statements that bind nothing."""
from __future__ import annotations; _mt_t = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented
_mt = _mt_t(globals(), 'monitorch2 3ae5f301b2f224d60fe3c0d291020cd2 _mt every_line.py --all%20--every-line 3,55 1,0,<module> 9,0,run 46,0,wait n3:1?9dadd84b n1?c1801541 e6/1=values=flag m4:5=0(print,-1~ur1. m1.1=0(2,-2~ur1. n3?db7a8499 n1?bdeaa8d7 b?bdeaa8d7,-5.1~r0 n:14?7b7a7318 n1:5?ac71932f b!1?ac71932f,-8.1~ur0k. m2:9.2=0,-9~msort;r0. b1:5.1!2?ac71932f,-10.1~ur0k. l2=value,-11~er0 n1:9?c5d47776 b?c5d47776,-2~ur0k. n1:13?b1727e44 n1:9?52cf453f b!1?52cf453f,-5~ur0k. n:25?c9648178 a1:9=total,-7~r0 n1?1dbd26cf l1:5,1~r0 a1:9=1,1~pr0k. m:20=1(2,-1~ur1. n:33.1?7b7a7318 n1:5?67ec9991 a=sink(open(os.devnull m1:9=5,-1~mread;r0. n1:5?5f94adf7 n3:9?a3b973e4 b3:5?e6aeb1ec(ValueError~r0 n1:9?5ef9ed23 n2?c2cf5700 n1:5.1?bdeaa8d7 b1:9?bb97f180,1 n1:13.2?7b7a7318 n1:5?92eb2f66 n:18?f2735c61 n3:5?29aa5c7a a:9=n,1~r0 b:5?29aa5c7a,1,n~okr0r1. m:27=n(2,n~ur1. n1:5?3f4f6c21 r1=-return e3:1/2=x n1:5?5b7f2eaf n1?fd0c5087 m:19=x,-3~my;r0. n1:5?0d182a98 n1?5ef9ed23 n3:1/0?5d85a55b b?5d85a55b(__name__~ur0k. n:28?8399a915 n1:1?1540ca33 .'); _mt_t = None; import os, sys; _mt and _mt(0)
from math import (
    floor,
    ceil,
); _mt and _mt(1)


def run(values, flag):
    """Doc."""; _mt and _mt(2, values, flag)
    global counter
    total: int
    print(values); _mt and _mt(3, values)
    print(
        values,
    )
    not (_mt and _mt(4, values)); assert values, "none"; _mt and _mt(5)
    if (_mt and _mt(6)) or (flag): not (_mt and _mt(7)); pass; not (_mt and _mt(8))
    elif (_mt and _mt(9)) or ((flag
          is None)):
        not (_mt and _mt(10)); values.sort(); not (_mt and _mt(11, values))
    else:
        not (_mt and _mt(12)); ...
    for value in values:
        if (_mt and _mt(13, value)) or (_mt and _mt(14)) or (value < 0):
            not (_mt and _mt(15)); not (_mt and _mt(16)); continue
        elif (_mt and _mt(17)) or (value > 9): not (_mt and _mt(18)); not (_mt and _mt(19)); break
        total = value; _mt and _mt(20, total)
        yield value; not (_mt and _mt(21))
    while (flag) and not (_mt and _mt(22)):
        flag -= 1; not (_mt and _mt(23, flag)); print(flag); not (_mt and _mt(24, flag)); pass; not (_mt and _mt(25))
    with (_mt and _mt(26)) or (open(os.devnull)) as sink, open(os.devnull):
        not (_mt and _mt(27, sink)); sink.read(); not (_mt and _mt(28, sink))
    with ((_mt and _mt(29)) or (open(os.devnull))):
        "text"
    try:
        not (_mt and _mt(30)); raise ValueError(
            total
        )
    except ValueError:
        not (_mt and _mt(31)); not (_mt and _mt(32)); raise
    finally:
        del values; not (_mt and _mt(33))
    match (_mt and _mt(34)) or (flag):
        case 1:
            not (_mt and _mt(35)); pass; not (_mt and _mt(36))
    import json; not (_mt and _mt(37)); json.dumps(1); _mt and _mt(38)
    class Inner:
        print(1)
    if (_mt and _mt(39)) or ((((n := flag) is not _mt and _mt and _mt(40, n) or n)) and n): not (_mt and _mt(41)); print(n); not (_mt and _mt(42, n))
    1 + n; _mt and _mt(43)
    not (_mt and _mt(44)); return


async def wait(x):
    not (_mt and _mt(45, x)); await x; _mt and _mt(46)
    async with (_mt and _mt(47)) or (x): await x.y(); not (_mt and _mt(48, x))
    lambda: x; _mt and _mt(49)
    not (_mt and _mt(50)); raise


if (_mt and _mt(51)) or (__name__ == "__main__"): not (_mt and _mt(52)); run([], 1); not (_mt and _mt(53))
print("end"); not (_mt and _mt(54))
