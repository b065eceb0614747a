"""How fast statistics and hash are found, beside torch's own reductions, one thread each.

Claims: at 1M floats the statistics take at most 1/15 of the time of torch's min, max, mean, std
and isfinite together and read at least 0.35 as many bytes a second as torch's sum, with the hash
at least 0.2; at 64M floats, which come from memory, 0.8 and 0.5. Exit code 1 where a claim does
not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
What calling from Python costs is part of it on both sides.
"""

import sys
import time

import torch
from claims import Claims, best
from monitorch import _recorder

MEGA = 1024 * 1024

# Elements, rounds, calls in a round.
SIZES = [(MEGA, 60, 5), (64 * MEGA, 12, 1)]
OTHERS = [
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.float8_e4m3fn,
]


def all_times(functions, rounds, calls):
    """Seconds of a call of each, a list of the rounds; they take turns."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for found, function in zip(times, functions):
            started = time.perf_counter()
            for _ in range(calls):
                function()
            found.append((time.perf_counter() - started) / calls)
    return times


def best_times(functions, rounds, calls):
    return [min(times) for times in all_times(functions, rounds, calls)]


def five_reductions(x):
    x.min()
    x.max()
    x.mean()
    x.std()
    torch.isfinite(x).all()


def measures(x):
    """Statistics alone, and with the hash."""

    def statistics():
        _recorder.measure(x, sample=0, stats=True, hash=False, threads=1)

    def both():
        _recorder.measure(x, sample=0, stats=True, hash=True, threads=1)

    return statistics, both


def row(name, seconds, size):
    print(f"  {name:<32} {seconds * 1e6:>10.1f} us {size / seconds / 1e9:>8.1f} GB/s")


def measure_floats(count, rounds, calls, shares, claims):
    x = torch.randn(count)
    statistics, both = measures(x)
    size = x.nbytes
    total, one, two = all_times([x.sum, statistics, both], rounds, calls)
    print(f"float32, {count // MEGA}M elements")
    row("torch: sum", min(total), size)
    row("statistics", min(one), size)
    row("statistics and hash", min(two), size)
    elements = f"{count // MEGA}M floats"
    for text, times, share in (("", one, shares[0]), (" and hash", two, shares[1])):
        what = f"bandwidth of statistics{text}, {elements}"
        claims.at_least(share, what, best(total, times), peer="torch's sum")


def measure_five(count, rounds, claims):
    x = torch.randn(count)
    statistics, both = measures(x)
    five, one, two = all_times([lambda: five_reductions(x), statistics, both], rounds, 2)
    print(f"float32, {count // MEGA}M elements")
    row("torch: min max mean std isfinite", min(five), x.nbytes)
    row("statistics", min(one), x.nbytes)
    row("statistics and hash", min(two), x.nbytes)
    what, peer = f"statistics of {count // MEGA}M floats", "torch's min, max, mean, std and isfinite"
    claims.at_least(15, what, best(five, one), peer=peer, unit="times faster")


def measure_small():
    print("float32, few elements, from Python (no claim)")
    for count in (16, 256, 1024):
        x = torch.randn(count)
        mean, one, two = best_times([x.mean, *measures(x)], 200, 100)
        print(
            f"  {count:>5} elements: torch's mean {mean * 1e9:.0f} ns, "
            f"statistics {one * 1e9:.0f} ns, and hash {two * 1e9:.0f} ns"
        )


def measure_others():
    print("other dtypes, 1M elements (no claim)")
    for dtype in OTHERS:
        x = (torch.randn(MEGA) * 10).abs().to(dtype)
        one, two = best_times(measures(x), 20, 3)
        row(str(dtype)[6:], one, x.nbytes)
        row("  and hash", two, x.nbytes)
    x = torch.randn(1024, 1024).t()
    one, two = best_times(measures(x), 20, 3)
    row("float32, transposed", one, x.nbytes)
    row("  and hash", two, x.nbytes)


def main():
    torch.set_num_threads(1)
    print(f"kernels: {_recorder.kernels()}")
    measure_small()
    measure_others()
    claims = Claims("How fast statistics and hash are found, in one thread")
    measure_five(MEGA, 40, claims)
    for (count, rounds, calls), shares in zip(SIZES, ((0.35, 0.2), (0.8, 0.5))):
        measure_floats(count, rounds, calls, shares, claims)
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
