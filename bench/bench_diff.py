"""How fast `monitorch diff` compares two traces, beside `monitorch show` printing one of them.

Claims, with a million events in each trace: at most 3 times as long as one `show`, whether the
programs are equal or one has a line more in its loop, and memory that does not grow with the traces.
Where a line was edited and a third of the values differ from the first turn on, each event of both is
judged on the graphs of both: at most 14 times one `show`, and 130 bytes an event. Two programs that
compute the same and share no name, matched by values: at most 18 times one `show`, and 300 bytes an event.
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
VALUES_LIMIT = 18.0
BYTES_AN_EVENT = 130
LIMITS = {"diff, values differ": JUDGED_LIMIT, "diff, no shared name": VALUES_LIMIT}
EDITED = SOURCE.replace("    weights = scores\n", "    weights = scores + 1\n")
VALUES_BYTES_AN_EVENT = 300
FIRST = """
def attend(x, mask):
    q = x * 1.5
    scores = q + mask
    weights = scores / 3
    return weights

def run(x, turns):
    for i in range(turns):
        y = attend(x + i, x)
        z = y * 0.7
"""
SECOND = """
def mix(value, shift):
    first = value * 1.5
    second = first + shift
    third = second / 3
    return third

def main(start, count):
    for turn in range(count):
        result = mix(start + turn, start)
        less = result * 0.7
run = main
"""
LONGER = SOURCE.replace("    scores = q\n", "    scores = q\n    extra = q\n")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = ("a", "b", "longer", "edited", "small", "first", "second")
        a, b, longer, edited, small, first, second = (folder / f"{word}.mtrace" for word in words)
        count = record(a, TURNS)
        record(b, TURNS)
        record(longer, TURNS, LONGER)
        record(edited, TURNS, EDITED)
        record(small, SMALL)
        record(first, TURNS * 11 // 9, FIRST)  # as many events as the others
        record(second, TURNS * 11 // 9, SECOND)
        peers = {
            "show": [COMMAND, "show", a],
            "diff, equal": [COMMAND, "diff", "-q", a, b],
            "diff --exact, equal": [COMMAND, "diff", "-q", "--exact", a, b],
            "diff, a line more": [COMMAND, "diff", "-q", a, longer],
            "diff, values differ": [COMMAND, "diff", "-q", a, edited],
            "diff, no shared name": [COMMAND, "diff", "-q", first, second],
        }
        times = in_turns(peers, ROUNDS, codes=(0, 1))
        print(f"{count:,} events in each trace:")
        for peer, seconds in times.items():
            print(f"  monitorch {peer:20} {min(seconds):6.3f} s")
        compare = [COMMAND, "diff", "-q"]
        more = max(memory_growth([*compare, a, x], [*compare, small, small]) for x in (b, longer))
        judged = memory_growth([*compare, a, edited], [*compare, small, small], codes=(0, 1))
        matched = memory_growth([*compare, first, second], [*compare, small, small])
    claims = Claims("How fast two traces of a million events are compared")
    shown = times.pop("show")
    for peer, seconds in times.items():
        limit = LIMITS.get(peer, LIMIT)
        claims.at_most(
            limit, f"monitorch {peer}", best(seconds, shown), peer="monitorch show of one"
        )
    claims.at_most(
        16, "memory of monitorch diff", more, peer="that for small traces", unit="MB more"
    )
    claims.at_most(
        BYTES_AN_EVENT,
        "memory, values differ",
        judged * 2**20 / (2 * count),
        peer="that for small traces",
        unit="bytes an event",
    )
    claims.at_most(
        VALUES_BYTES_AN_EVENT,
        "memory, no shared name",
        matched * 2**20 / (2 * count),
        peer="that for small traces",
        unit="bytes an event",
    )
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
