"""The output of `make demo`: a picture of a function, an instrumented model that runs as before,
the line of a program that differs from yesterday's version, and the line that made a NaN.
Independent programs run at the same time: most of a program's time is the import of torch."""

import concurrent.futures
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


# {file: the command that makes it, as `say` printed it}
commands = {}


def say(text, makes=None):
    print(f"\n== {text}\n", flush=True)
    if makes:
        commands[makes] = text.split("    (")[0]


runs = concurrent.futures.ThreadPoolExecutor(os.cpu_count())


def start(*words, **options):
    """Starts run() in another thread; `result()` waits for it."""
    return runs.submit(run, *words, **options)


def run(*words, cwd=ROOT, code=0, **variables):
    """Returns the output of the command. An exit code other than `code` ends the demo."""
    done = subprocess.run(
        words, cwd=cwd, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
    )
    if done.returncode != code:
        sys.exit(f"demo: exit code {done.returncode} from {' '.join(map(str, words))}")
    return done.stdout


def show_inserted(original, traced, limit):
    """Prints changed lines before and after instrumentation, which keeps line numbers."""
    before, after = original.splitlines(), traced.splitlines()
    assert len(before) == len(after)
    changed = [n for n in range(len(before)) if before[n] != after[n]]
    shown = [n for n in changed if len(after[n]) < 140][:limit]
    for number in shown:
        print(f"{number + 1:4} - {before[number]}")
        print(f"     + {after[number]}")
    print(f"\n{len(changed)} of {len(before)} lines were added to, none was moved.")


def start_versions(folder):
    """Starts yesterday's and today's version of a program, which print the same. Returns the trace,
    the script and the run of each."""
    versions = []
    for name in ("good", "bad"):
        trace, script = folder / f"{name}.mtrace", BUGS / name / "gru_pooling.py"
        words = ["run", "-q", "-o", trace, script]
        versions.append((trace, script, start(sys.executable, "-m", "monitorch", *words)))
    return versions


def show_difference(versions):
    for trace, script, running in versions:
        command = f"python -m monitorch run -o {trace.name} {script.relative_to(ROOT)}"
        say(command, makes=trace)
        print(running.result(), end="")

    say("monitorch diff good.mtrace bad.mtrace    (what has changed?)")
    answer = run("monitorch", "diff", *(trace for trace, _, _ in versions), code=1)
    print(answer.partition("\n\n")[0])


def show_results(folder, files):
    """Prints the path of each file, and the command that made it."""
    say(f"In {os.path.relpath(folder)}:")
    names = [str(file.relative_to(folder)) for file in files]
    for name, file in zip(names, files):
        print(f"{name:{max(map(len, names))}}  {commands[file]}")
    print("\nPictures open in a browser; `monitorch show` prints a trace. The commands are in")
    print(f"{os.path.relpath(BUILD / 'bin')}, the package in {os.path.relpath(BUILD / 'python')}.")


def main():
    folder = BUILD / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    traced = folder / "transformer_block_traced.py"
    trace = folder / "run.mtrace"
    sample = SAMPLE.relative_to(ROOT)

    drawing = start(sys.executable, PLAIN, cwd=folder)
    plain = start(sys.executable, SAMPLE)
    run("monitorch-instrument", sample, "-o", traced)
    instrumented = start(sys.executable, traced)
    words = [sys.executable, traced, "--empty-row", "--steps", "1"]
    recording = start(*words, MONITORCH=str(trace))
    versions = start_versions(folder)

    picture = folder / "monitorch_outputs" / "nan_in_entropy.svg"
    command = f"python {PLAIN.relative_to(ROOT)}"
    say(f"{command}    (nothing is prepared; it calls monitorch.on and off)", makes=picture)
    drawing.result()
    if not picture.read_text().rstrip().endswith("</svg>"):
        sys.exit("demo: there is no picture")
    print(f"A picture of what each line made, and of the first NaN: {os.path.relpath(picture)}")

    say(f"monitorch-instrument {sample} -o {traced.name}", makes=traced)
    show_inserted(SAMPLE.read_text(), traced.read_text(), limit=4)

    say(f"python {traced.name}    (recording is off)")
    expected, got = plain.result(), instrumented.result()
    print(got, end="")
    if got != expected:
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(1), got.splitlines(1)))
        sys.exit("demo: the instrumented model printed something else")
    print("\nThe original prints the same.")

    drawn = folder / "attention.svg"
    command = f"monitorch graph --call 3 {trace.name} -o {drawn.name}"
    say(f"{command}    (one call of that run)", makes=drawn)
    recording.result()
    run("monitorch", "graph", "--quiet", "--call", "3", trace, "-o", drawn)
    print(os.path.relpath(drawn))

    show_difference(versions)

    say(f"monitorch-instrument --strip {traced.name}")
    stripped = folder / "transformer_block.py"
    run("monitorch-instrument", "--strip", traced, "-o", stripped)
    if stripped.read_bytes() != SAMPLE.read_bytes():
        sys.exit("demo: --strip did not give the original back")
    print("gives the original back, byte for byte.")
    commands[trace] = f"MONITORCH={trace.name} python {traced.name} --empty-row --steps 1"
    show_results(folder, [picture, traced, trace, drawn, *(trace for trace, _, _ in versions)])

    say(f"MONITORCH={trace.name} python {traced.name} --empty-row --steps 1", makes=trace)
    print(recording.result(), end="")

    say(f"monitorch why {trace.name}    (which line made the NaN?)")
    print(run("monitorch", "why", "--depth", "2", trace, code=1), end="")


if __name__ == "__main__":
    main()
