"""How fast `monitorch diff` compares two traces, beside `monitorch show` printing one of them.

Claims, with a million events in each trace: at most 3 times as long as one `show`, whether the
programs are equal or one has a line more in its loop; and memory that does not grow with the traces.
Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import pathlib
import shutil
import sys
import tempfile

try:
    import numpy  # noqa: F401 (it is what is recorded)
except ImportError:
    print("numpy is not installed: there is nothing to record")
    sys.exit(0)

from bench_show_speed import SOURCE, peak_memory, record, run
from claims import Claims, best

TURNS = 91000
ROUNDS = 5
LIMIT = 3.0
LONGER = SOURCE.replace("    scores = q\n", "    scores = q\n    extra = q\n")
COMMAND = shutil.which("monitorch")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a, b, longer, small = (folder / f"{word}.mtrace" for word in ("a", "b", "longer", "small"))
        count = record(a, TURNS)
        record(b, TURNS)
        record(longer, TURNS, LONGER)
        record(small, 1000)
        peers = {
            "show": [COMMAND, "show", a],
            "diff, equal": [COMMAND, "diff", "-q", a, b],
            "diff --exact, equal": [COMMAND, "diff", "-q", "--exact", a, b],
            "diff, a line more": [COMMAND, "diff", "-q", a, longer],
        }
        times = {peer: [] for peer in peers}
        for _ in range(ROUNDS):
            for peer, words in peers.items():
                times[peer].append(run(words))
        print(f"{count:,} events in each trace:")
        for peer, seconds in times.items():
            print(f"  monitorch {peer:20} {min(seconds):6.3f} s")
        peak = max(peak_memory([COMMAND, "diff", "-q", a, other]) for other in (b, longer))
        small_peak = peak_memory([COMMAND, "diff", "-q", small, small])
        print(f"memory: {peak} kB; {small_peak} kB for small traces")
    claims = Claims("How fast two traces of a million events are compared")
    shown = times.pop("show")
    for peer, seconds in times.items():
        claims.at_most(LIMIT, f"monitorch {peer}", best(seconds, shown), peer="monitorch show of one")
    more = (peak - small_peak) / 1024
    claims.at_most(16, "memory of monitorch diff", more, peer="that for small traces", unit="MB more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
