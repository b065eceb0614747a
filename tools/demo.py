"""What `make demo` shows: a picture of a function, a model instrumented, that it runs as before,
which line made a NaN, and which line of a program differs from yesterday's."""

import difflib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ["MONITORCH_BUILD"])
SAMPLE = ROOT / "samples" / "transformer_block.py"
PLAIN = ROOT / "samples" / "nan_in_entropy.py"
BUGS = ROOT / "samples" / "bugs"


def say(text):
    print(f"\n== {text}\n", flush=True)


def run(*words, cwd=ROOT, code=0, **variables):
    """What the command prints; another exit code than `code` ends the demo."""
    done = subprocess.run(
        words, cwd=cwd, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
    )
    if done.returncode != code:
        sys.exit(f"demo: exit code {done.returncode} from {' '.join(map(str, words))}")
    return done.stdout


def show_inserted(original, traced, limit):
    """Changed lines as they were and as they are; lines stay where they are."""
    before, after = original.splitlines(), traced.splitlines()
    assert len(before) == len(after)
    changed = [n for n in range(len(before)) if before[n] != after[n]]
    shown = [n for n in changed if len(after[n]) < 140][:limit]
    for number in shown:
        print(f"{number + 1:4} - {before[number]}")
        print(f"     + {after[number]}")
    print(f"\n{len(changed)} of {len(before)} lines were added to, none was moved.")


def show_difference(folder):
    """A program as it was yesterday and as it is today, which print the same."""
    traces = []
    for version in ("good", "bad"):
        script = BUGS / version / "gru_pooling.py"
        traces.append(folder / f"{version}.mtrace")
        say(f"python -m monitorch run -o {traces[-1].name} {script.relative_to(ROOT)}")
        words = ["run", "-q", "-o", traces[-1], script]
        print(run(sys.executable, "-m", "monitorch", *words), end="")

    say("monitorch diff good.mtrace bad.mtrace    (what has changed?)")
    print(run("monitorch", "diff", *traces, code=1), end="")


def main():
    folder = BUILD / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    traced = folder / "transformer_block_traced.py"
    sample = SAMPLE.relative_to(ROOT)

    say(f"python {PLAIN.relative_to(ROOT)}    (nothing is prepared; it calls monitorch.on and off)")
    run(sys.executable, PLAIN, cwd=folder)
    picture = folder / "monitorch_outputs" / "nan_in_entropy.svg"
    if not picture.read_text().rstrip().endswith("</svg>"):
        sys.exit("demo: there is no picture")
    print(f"A picture of what each line made, and of the first NaN: {picture}")

    say(f"monitorch-instrument {sample} -o {traced.name}")
    run("monitorch-instrument", sample, "-o", traced)
    show_inserted(SAMPLE.read_text(), traced.read_text(), limit=12)

    say(f"python {traced.name}    (recording is off)")
    expected = run(sys.executable, SAMPLE)
    got = run(sys.executable, traced)
    print(got, end="")
    if got != expected:
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(1), got.splitlines(1)))
        sys.exit("demo: the instrumented model printed something else")
    print("\nThe original prints the same.")

    trace = folder / "run.mtrace"
    say(f"MONITORCH={trace.name} python {traced.name} --empty-row --steps 1")
    print(run(sys.executable, traced, "--empty-row", "--steps", "1", MONITORCH=str(trace)), end="")

    say(f"monitorch why {trace.name}    (where did it come from?)")
    print(run("monitorch", "why", "--depth", "2", trace, code=1), end="")

    say(f"monitorch show --call 3 {trace.name}    (all of that call)")
    print(run("monitorch", "show", "--call", "3", trace), end="")

    say(f"monitorch graph --call 3 {trace.name} -o attention.svg    (the same as a picture)")
    drawn = folder / "attention.svg"
    run("monitorch", "graph", "--quiet", "--call", "3", trace, "-o", drawn)
    print(drawn)

    show_difference(folder)

    say(f"monitorch-instrument --strip {traced.name}")
    stripped = folder / "transformer_block.py"
    run("monitorch-instrument", "--strip", traced, "-o", stripped)
    if stripped.read_bytes() != SAMPLE.read_bytes():
        sys.exit("demo: --strip did not give the original back")
    print("gives the original back, byte for byte.")
    print(f"\nThe files are in {folder}: look at {picture}\nand {drawn},")
    print(f"and at the trace with `monitorch show {trace}`.")


if __name__ == "__main__":
    main()
