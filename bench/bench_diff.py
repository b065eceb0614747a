"""How fast `monitorch diff` compares two traces, beside `monitorch show` printing one of them.

Claims, with a million events in each trace: at most 3 times as long as one `show`, whether the
programs are equal or one has a line more in its loop, and memory that does not grow with the traces.
Where a line was edited and a third of the values differ from the first turn on, each event of both is
judged on the graphs of both: at most 14 times one `show`, and 130 bytes an event.
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
JUDGED_LIMIT = 14.0
BYTES_AN_EVENT = 130
EDITED = SOURCE.replace("    weights = scores\n", "    weights = scores + 1\n")
LONGER = SOURCE.replace("    scores = q\n", "    scores = q\n    extra = q\n")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = ("a", "b", "longer", "edited", "small")
        a, b, longer, edited, small = (folder / f"{word}.mtrace" for word in words)
        count = record(a, TURNS)
        record(b, TURNS)
        record(longer, TURNS, LONGER)
        record(edited, TURNS, EDITED)
        record(small, SMALL)
        peers = {
            "show": [COMMAND, "show", a],
            "diff, equal": [COMMAND, "diff", "-q", a, b],
            "diff --exact, equal": [COMMAND, "diff", "-q", "--exact", a, b],
            "diff, a line more": [COMMAND, "diff", "-q", a, longer],
            "diff, values differ": [COMMAND, "diff", "-q", a, edited],
        }
        times = in_turns(peers, ROUNDS, codes=(0, 1))
        print(f"{count:,} events in each trace:")
        for peer, seconds in times.items():
            print(f"  monitorch {peer:20} {min(seconds):6.3f} s")
        compare = [COMMAND, "diff", "-q"]
        more = max(memory_growth([*compare, a, x], [*compare, small, small]) for x in (b, longer))
        judged = memory_growth([*compare, a, edited], [*compare, small, small], codes=(0, 1))
    claims = Claims("How fast two traces of a million events are compared")
    shown = times.pop("show")
    for peer, seconds in times.items():
        limit = JUDGED_LIMIT if peer == "diff, values differ" else LIMIT
        claims.at_most(limit, f"monitorch {peer}", best(seconds, shown), peer="monitorch show of one")
    claims.at_most(16, "memory of monitorch diff", more, peer="that for small traces", unit="MB more")
    claims.at_most(
        BYTES_AN_EVENT, "memory, values differ", judged * 2**20 / (2 * count), peer="that for small traces", unit="bytes an event"
    )
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
