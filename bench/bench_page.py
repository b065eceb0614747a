"""The time and the size of a trace's page, beside `monitorch show`.

Claims: the page of 100,000 events has at most 8 MB, as without an option, and so has that of a million.
The time beside that of `show` is printed: a page reads the trace several times, and makes a graph of
it. The two alternate, and the best time of each counts. Exit code 1 where a claim does not hold.
"""

import sys

from claims import Claims
from traces import COMMAND, in_turns, large_and_small

ROUNDS = 3
MEGABYTES = 8 * 1.048576  # 8 MiB
#: Turns of the benchmarks' program, of eleven events each.
SIZES = {"100,000 events": 9_100, "1,000,000 events": 91_000}


def main():
    claims = Claims("How large the page of a trace is")
    for name, turns in SIZES.items():
        with large_and_small(turns) as (trace, _):
            page = trace.with_suffix(".html")
            works = {
                "show": [COMMAND, "show", trace],
                "page": [COMMAND, "page", "-q", trace, "-o", page],
            }
            times = in_turns(works, ROUNDS)
            size = page.stat().st_size / 1e6
        show, ours = min(times["show"]), min(times["page"])
        print(f"{name}: {size:.1f} MB in {ours:.2f} s, {ours / show:.0f} times monitorch show")
        claims.at_most(MEGABYTES, f"the page of {name}", size, peer="", unit="MB")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
