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
        best = dict.fromkeys(peers, float("inf"))
        for _ in range(ROUNDS):
            for peer, words in peers.items():
                best[peer] = min(best[peer], run(words))
        print(f"{count:,} events in each trace:")
        for peer, seconds in best.items():
            print(f"  monitorch {peer:20} {seconds:6.3f} s {seconds / best['show']:6.2f} of show")
        peak = max(peak_memory([COMMAND, "diff", "-q", a, other]) for other in (b, longer))
        small_peak = peak_memory([COMMAND, "diff", "-q", small, small])
        print(f"memory: {peak} kB; {small_peak} kB for small traces")
        holds = max(best.values()) <= LIMIT * best["show"] and 0 < peak < small_peak + 16384
    print("the claims hold" if holds else "a claim does not hold")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
