"""Draws the samples: python tools/pictures.py FOLDER [NAME[[.dark].png] …], which `make pictures`
calls.

Each sample is run unchanged, in a process of its own. This program sets a seed, so that each run
draws the same, and the name of the file that the sample's `monitorch.off` writes. Samples that do
not use monitorch are instrumented, recorded, and drawn by `monitorch graph`.
"""

import os
import pathlib
import runpy
import subprocess
import sys
import tempfile

# The interpreter of the samples.
PYTHON = os.environ.get("MONITORCH_TEST_PYTHON", sys.executable)
ROOT = pathlib.Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "samples"
# With this seed no number on the pictures is close to a rounding limit, so that processors with
# other instructions, whose sums differ in the last bit, draw the same.
SEED = 0
DRAWN_BY_THEMSELVES = (
    "quick_notebook",
    "quick_lines",
    "quick_arguments",
    "twelve_lines",
    "training_step",
    "conv_features",
    "nan_in_entropy",
    "lstm_steps",
)
# The sample's arguments, and the options of `monitorch graph`.
DRAWN_FROM_A_TRACE = {
    "transformer_block": (
        ["--steps", "1"],
        ["--function", "Block.forward", "--function", "Attention.forward"],
    ),
}
# Programs of samples/bugs: bad against good, with marks.
DRAWN_FROM_TWO = {"diff_gru_pooling": "gru_pooling"}
NAMES = (*DRAWN_BY_THEMSELVES, *DRAWN_FROM_A_TRACE, *DRAWN_FROM_TWO)


def run_sample(sample, output):
    """Runs a sample in this process. Its monitorch.off writes `output`."""
    import monitorch
    import torch

    switch_off = monitorch.off

    def off(**settings):
        if ".dark." in output:
            monitorch.on(theme="dark")  # changes only the theme
        return switch_off(**{**settings, "filename": output, "save": True, "show": False})

    # Files below the current folder are followed; this function is not part of the sample.
    off.__code__ = off.__code__.replace(co_filename="<outside>")
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    monitorch.off = off
    sys.argv = [sample]
    runpy.run_path(sample, run_name="__main__")


def run(*words, folder=ROOT, exit_codes=(0,), **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode not in exit_codes:
        raise subprocess.CalledProcessError(done.returncode, words)


def trace_of(sample, folder, name, arguments=()):
    """Records a sample, which is named from the repository's root. Returns the trace."""
    traced = os.path.join(folder, f"{name}.py")
    trace = os.path.join(folder, f"{name}.mtrace")
    run("monitorch-instrument", sample, "-o", traced)
    run(PYTHON, traced, *arguments, MONITORCH=f"{trace},quiet")
    return trace


def draw_two(name, output):
    with tempfile.TemporaryDirectory() as folder:
        for side in ("good", "bad"):
            trace_of(f"samples/bugs/{side}/{DRAWN_FROM_TWO[name]}.py", folder, side)
        words = ("monitorch", "diff", "good.mtrace", "bad.mtrace", "-o", output)
        run(*words, folder=folder, exit_codes=(1,))


def draw(name, output):
    if name in DRAWN_FROM_TWO:
        draw_two(name, output)
        return
    sample = f"samples/{name}.py"
    if name in DRAWN_BY_THEMSELVES:
        run(PYTHON, __file__, "--one", sample, output)
        return
    arguments, options = DRAWN_FROM_A_TRACE[name]
    with tempfile.TemporaryDirectory() as folder:
        trace = trace_of(sample, folder, "run", arguments)
        run("monitorch", "graph", trace, "-o", output, *options)


def main():
    if sys.argv[1] == "--one":
        run_sample(*sys.argv[2:])
        return
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NAMES:
        output = folder / (name if "." in name else f"{name}.svg")
        draw(output.name.split(".")[0], str(output))
        print(output, flush=True)


if __name__ == "__main__":
    main()
