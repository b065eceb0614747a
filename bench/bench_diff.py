"""How fast `monitorch diff` compares two traces, beside `monitorch show` printing one of them.

Claims, with a million events in each trace: at most 3 times as long as one `show`, whether the
programs are equal or one has a line more in its loop; and memory that does not grow with the traces.
Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

import pathlib
import sys
import tempfile

from claims import Claims, best
from traces import COMMAND, SMALL, SOURCE, in_turns, memory_growth, record

TURNS = 91000
ROUNDS = 5
LIMIT = 3.0
LONGER = SOURCE.replace("    scores = q\n", "    scores = q\n    extra = q\n")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a, b, longer, small = (folder / f"{word}.mtrace" for word in ("a", "b", "longer", "small"))
        count = record(a, TURNS)
        record(b, TURNS)
        record(longer, TURNS, LONGER)
        record(small, SMALL)
        peers = {
            "show": [COMMAND, "show", a],
            "diff, equal": [COMMAND, "diff", "-q", a, b],
            "diff --exact, equal": [COMMAND, "diff", "-q", "--exact", a, b],
            "diff, a line more": [COMMAND, "diff", "-q", a, longer],
        }
        times = in_turns(peers, ROUNDS)
        print(f"{count:,} events in each trace:")
        for peer, seconds in times.items():
            print(f"  monitorch {peer:20} {min(seconds):6.3f} s")
        compare = [COMMAND, "diff", "-q"]
        more = max(memory_growth([*compare, a, x], [*compare, small, small]) for x in (b, longer))
    claims = Claims("How fast two traces of a million events are compared")
    shown = times.pop("show")
    for peer, seconds in times.items():
        claims.at_most(LIMIT, f"monitorch {peer}", best(seconds, shown), peer="monitorch show of one")
    claims.at_most(16, "memory of monitorch diff", more, peer="that for small traces", unit="MB more")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
