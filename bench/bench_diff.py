"""How fast `monitorch diff` compares two traces, beside `monitorch show` printing one of them.

Claims, with a million events in each trace: at most 3 times as long as one `show`, whether the
programs are equal or one has a line more in its loop, and memory that does not grow with the traces.
Where a line was edited and a third of the values differ from the first turn on, each event of both is
judged on the graphs of both: at most 14 times one `show`, and 130 bytes an event. Two programs that
compute the same and share no name, matched by values: at most 12 times one `show`, and 240 bytes an event.
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
VALUES_LIMIT = 12.0
BYTES_AN_EVENT = 130
LIMITS = {"diff, values differ": JUDGED_LIMIT, "diff, no shared name": VALUES_LIMIT}
EDITED = SOURCE.replace("    weights = scores\n", "    weights = scores + 1\n")
VALUES_BYTES_AN_EVENT = 240
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


def record_all(folder):
    """The traces by their names; as many events in each but the small one, and how many."""
    programs = {"a": SOURCE, "b": SOURCE, "longer": LONGER, "edited": EDITED}
    traces = {name: folder / f"{name}.mtrace" for name in (*programs, "small", "first", "second")}
    counts = [record(traces[name], TURNS, source) for name, source in programs.items()]
    record(traces["small"], SMALL)
    record(traces["first"], TURNS * 11 // 9, FIRST)
    record(traces["second"], TURNS * 11 // 9, SECOND)
    return traces, counts[0]


def measure(traces):
    """The seconds of each peer, and the growth of the memory: of equal runs, judged and matched ones."""
    compare = [COMMAND, "diff", "-q"]
    a, first, small = traces["a"], traces["first"], [traces["small"]] * 2
    peers = {
        "show": [COMMAND, "show", a],
        "diff, equal": [*compare, a, traces["b"]],
        "diff --exact, equal": [*compare, "--exact", a, traces["b"]],
        "diff, a line more": [*compare, a, traces["longer"]],
        "diff, values differ": [*compare, a, traces["edited"]],
        "diff, no shared name": [*compare, first, traces["second"]],
    }
    times = in_turns(peers, ROUNDS, codes=(0, 1))
    names = ("b", "longer", "edited")
    grown = [
        memory_growth([*compare, a, traces[x]], [*compare, *small], codes=(0, 1)) for x in names
    ]
    grown.append(memory_growth([*compare, first, traces["second"]], [*compare, *small]))
    return times, grown


def main():
    with tempfile.TemporaryDirectory() as name:
        traces, count = record_all(pathlib.Path(name))
        times, (equal, longer, judged, matched) = measure(traces)
    print(f"{count:,} events in each trace:")
    for peer, seconds in times.items():
        print(f"  monitorch {peer:20} {min(seconds):6.3f} s")
    claims = Claims("How fast two traces of a million events are compared")
    shown = times.pop("show")
    for peer, seconds in times.items():
        limit = LIMITS.get(peer, LIMIT)
        claims.at_most(
            limit, f"monitorch {peer}", best(seconds, shown), peer="monitorch show of one"
        )
    small = {"peer": "that for small traces"}
    claims.at_most(16, "memory of monitorch diff", max(equal, longer), unit="MB more", **small)
    for what, grown, limit in (
        ("values differ", judged, BYTES_AN_EVENT),
        ("no shared name", matched, VALUES_BYTES_AN_EVENT),
    ):
        size = grown * 2**20 / (2 * count)
        claims.at_most(limit, f"memory, {what}", size, unit="bytes an event", **small)
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
