"""What recording costs: an event against torch's own x.mean(), a GPT against the plain run.

Claims, in one thread: an event of a tensor of at most 1,024 floats costs at most 0.5 of x.mean() on
it with all statistics and the hash, 0.15 with shapes alone; every line of every forward of a small
GPT recorded costs at most 1.3 times the plain run, a training step with the gradient of each value and
the parameters at most 1.35 times and 2% of memory, and greedy generation of a small Llama (llama.py: some 430 events a token, which
takes about 2 ms) at most 1.3 times; with a sample of 8 values an event has at most 200 bytes on disk. TorchLens
and PySnooper, where they are installed (pip install torchlens pysnooper), need at least 10 times as
long; torch's DebugMode is in the same table. Exit code 1 where a claim does not hold.
"""

import importlib.util
import io
import os
import statistics
import sys
import tempfile
import time

import torch
from claims import Claims, median

from tests.support import compiler, paths, recording

EVENT = b"""
def keep(tensors):
    for x in tensors:
        y = x

def mean(tensors):
    for x in tensors:
        y = x.mean()
"""
KEEP_LINE = 4  # `y = x`
SIZES = (1, 32, 256, 1024)
SHAPES_ALONE = {"stats": False, "hash": False, "sample": 0}
EVENT_CLAIMS = {"all statistics and the hash": ({}, 0.5), "shapes alone": (SHAPES_ALONE, 0.15)}
EVENT_ROUNDS = 41
FORWARD_CLAIM = 1.3
STEP_CLAIM = 1.35
STEP_ROUNDS = 15
STEPS = 3  # in one measurement
MEMORY_CLAIM = 1.02
MEMORY_STEPS = 30
GENERATION_CLAIM = 1.3
GENERATION_ROUNDS = 15
TOKENS = 24
PEER_CLAIM = 10
FORWARD_ROUNDS = 31
FORWARDS = 4  # in one measurement
SLOW_ROUNDS = 5
BYTES_CLAIM = 200
EVERYTHING = "monitorch, statistics, hash, sample"


def seconds(function, *arguments, count=1):
    """How long a call takes, on average of `count`, after one that warms everything up."""
    function(*arguments)
    started = time.perf_counter()
    for _ in range(count):
        function(*arguments)
    return (time.perf_counter() - started) / count


class Trace:
    """Traces that are thrown away."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="monitorch-bench-")
        self.path = os.path.join(self.folder.name, "bench.mtrace")

    def record(self, **options):
        return recording.record(self.path, **options)


# One event


def load_functions(**selection):
    text = compiler.instrument(EVENT, "event.py", **selection).text if selection else EVENT
    space = {"__name__": "event"}
    exec(compile(text, "event.py", "exec", dont_inherit=True), space)
    return space


def event_ratios(size, trace):
    """{claim: (nanoseconds of an event, nanoseconds of x.mean(), their ratio)}"""
    # Another object and other values at each turn.
    tensors = [torch.randn(size) for _ in range(64)] * 16
    plain, traced = load_functions(), load_functions(lines=[(KEEP_LINE, KEEP_LINE)])
    samples = {name: [] for name in EVENT_CLAIMS}
    for turn in range(EVENT_ROUNDS + 1):
        for name, (options, _) in EVENT_CLAIMS.items():
            with trace.record(**options):
                with_event = seconds(traced["keep"], tensors)
            bare = seconds(plain["keep"], tensors)
            mean = seconds(plain["mean"], tensors)
            if turn > 0:
                samples[name].append((with_event - bare, mean - bare))
    found = {}
    for name, pairs in samples.items():
        events, means = zip(*pairs)
        ratio = median([event / mean for event, mean in pairs])
        each = 1e9 / len(tensors)
        found[name] = statistics.median(events) * each, statistics.median(means) * each, ratio
    return found


def measure_events(trace, claims):
    worst = {}
    print(f"{'an event of':>12}  {'x.mean()':>9}  " + "  ".join(f"{n:>28}" for n in EVENT_CLAIMS))
    for size in SIZES:
        found = event_ratios(size, trace)
        words = []
        for name, (event, mean, ratio) in found.items():
            worst[name] = max(ratio, worst.get(name, ratio), key=lambda figure: figure.value)
            words.append(f"{event:>8.0f} ns, {ratio.value:.2f} times")
        print(f"{size:>5} floats  {mean:>6.0f} ns  " + "  ".join(f"{w:>28}" for w in words))
    for name, (_, claim) in EVENT_CLAIMS.items():
        what = f"an event of at most 1,024 floats, {name} (the worst size)"
        claims.at_most(claim, what, worst[name], peer="x.mean()")


# A model


def load_program(path, is_instrumented, **selection):
    source = path.read_bytes()
    text = compiler.instrument(source, str(path), **selection).text if is_instrumented else source
    name = path.stem + ("_traced" if is_instrumented else "")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    torch.manual_seed(0)
    return module


def load_model(is_instrumented):
    path = paths.ROOT / "samples" / "transformer_block.py"
    module = load_program(path, is_instrumented, forward=True)
    return module.SmallGPT(vocabulary=256, width=128, heads=4, depth=4, longest=64)


def is_installed(name):
    if importlib.util.find_spec(name) is None:
        return False
    importlib.import_module(name)
    return True


def debug_mode_runs(model, tokens):
    try:
        from torch.utils._debug_mode import DebugMode
    except ImportError:
        return {"torch DebugMode": None}

    def run():
        with DebugMode():
            model(tokens)

    def run_hashing():
        with DebugMode(), DebugMode.log_tensor_hashes():
            model(tokens)

    return {"torch DebugMode": run, "torch DebugMode, hashes": run_hashing}


def pysnooper_run(model, tokens):
    """Every line of every forward of the sample, printed as PySnooper does."""
    if not is_installed("pysnooper"):
        return None
    import pysnooper

    kinds = {type(m) for m in model.modules() if type(m).__module__ == type(model).__module__}
    plain = {kind: kind.forward for kind in kinds}
    snooped = {kind: pysnooper.snoop(io.StringIO())(kind.forward) for kind in kinds}

    def run():
        for kind in kinds:
            kind.forward = snooped[kind]
        try:
            model(tokens)
        finally:
            for kind in kinds:
                kind.forward = plain[kind]

    return run


def torchlens_run(model, tokens):
    if not is_installed("torchlens"):
        return None
    import torchlens

    return lambda: torchlens.trace(model, tokens)


def unwrap_torch():
    """TorchLens leaves torch's functions wrapped, which slows everybody else down."""
    if "torchlens" in sys.modules:
        from torchlens.backends.torch.wrappers import unwrap_torch

        unwrap_torch()


def measure_forward(trace):
    model, traced = load_model(False), load_model(True)
    tokens = torch.randint(256, (2, 64))

    def recorded(**options):
        def run():
            with trace.record(**options):
                return seconds(traced, tokens, count=FORWARDS)

        return run

    runs = {
        "monitorch, recording off": lambda: seconds(traced, tokens, count=FORWARDS),
        "monitorch, shapes alone": recorded(**SHAPES_ALONE),
        EVERYTHING: recorded(),
    }
    peers = {
        **debug_mode_runs(model, tokens),
        "PySnooper": pysnooper_run(model, tokens),
        "TorchLens": torchlens_run(model, tokens),
    }
    for name, run in peers.items():
        runs[name] = None if run is None else lambda run=run: seconds(run)
    pairs = {name: [] for name in runs}
    for turn in range(FORWARD_ROUNDS + 1):
        for name, run in runs.items():
            if run is not None and (name not in peers or turn <= SLOW_ROUNDS):
                plain = seconds(model, tokens, count=FORWARDS)
                pairs[name].append((plain, run()))
                unwrap_torch()
    return {name: taken[1:] for name, taken in pairs.items()}


def show_forward(pairs, claims):
    """Each run beside the plain one that ran just before it."""
    print(f"{'a forward of GPT (4 layers, d=128, T=64, batch 2)':<50} {'ms':>8} {'times plain':>12}")
    plain = statistics.median(p for taken in pairs.values() for p, _ in taken)
    print(f"{'plain':<50} {plain * 1e3:>8.2f} {1:>12.2f}")
    ratios = {}
    for name, taken in pairs.items():
        if not taken:
            print(f"{name:<50} {'not installed':>21}")
            continue
        ratios[name] = median([t / p for p, t in taken])
        print(f"{name:<50} {statistics.median(t for _, t in taken) * 1e3:>8.2f} {ratios[name].value:>12.2f}")
    what = "a forward of a small GPT, every line recorded"
    claims.at_most(FORWARD_CLAIM, what, ratios[EVERYTHING], peer="the plain run")
    for name in ("PySnooper", "TorchLens"):
        if not pairs[name]:
            claims.not_measured(f"{what}, against {name}", f"{name} is not installed")
            continue
        slower = median([b / a for (_, a), (_, b) in zip(pairs[EVERYTHING], pairs[name])])
        claims.at_least(PEER_CLAIM, what, slower, peer=f"{name} on the same", unit="times faster")


# A training step


def training_step(model, tokens):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        logits = model(tokens)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, -2), tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def hooked_step(model, tokens):
    """The same with four statistics of the gradient of each module's output and of each parameter, by plain
    hooks of tensors."""
    found = []

    def keep(gradient):
        found.append((gradient.min(), gradient.max(), gradient.mean(), gradient.std()))

    def hook(module, inputs, output):
        if isinstance(output, torch.Tensor) and output.requires_grad:
            output.register_hook(keep)

    for module in model.modules():
        module.register_forward_hook(hook)
    for parameter in model.parameters():
        parameter.register_hook(keep)
    return training_step(model, tokens)


def anonymous_memory():
    """Of this process, in bytes: without the pages of files, such as a trace."""
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("RssAnon"))


def measure_memory(trace, plain, traced, claims):
    """Of training steps, beside the same without recording, in this process."""
    for _ in range(MEMORY_STEPS):
        plain()
        traced()
    before = anonymous_memory()
    with trace.record(backward=True):
        for _ in range(MEMORY_STEPS):
            traced()
        grown = anonymous_memory() - before
    print(f"memory of {MEMORY_STEPS} recorded steps: {grown / 1e6:.1f} MB above {before / 1e6:.1f} MB")
    what = "memory of training steps of a small GPT, recorded with gradients and parameters"
    claims.at_most(MEMORY_CLAIM, what, 1 + grown / before, peer="the plain steps")


def measure_training(trace, claims):
    tokens = torch.randint(256, (2, 64))
    plain, traced = (training_step(load_model(is_traced), tokens) for is_traced in (False, True))
    hooked = hooked_step(load_model(False), tokens)

    def recorded():
        with trace.record(backward=True):
            return seconds(traced, count=STEPS)

    def watched():
        with torch.autograd.set_detect_anomaly(True, check_nan=True):
            return seconds(plain, count=STEPS)

    def debugged():
        from torch.utils._debug_mode import DebugMode

        with DebugMode():
            return seconds(plain, count=STEPS)

    runs = {
        "monitorch, values, gradients, parameters, steps": recorded,
        "detect_anomaly": watched,
        "tensor hooks in Python, four statistics": lambda: seconds(hooked, count=STEPS),
        "torch's DebugMode": debugged,
    }
    pairs = {name: [] for name in runs}
    for turn in range(STEP_ROUNDS + 1):
        for name, run in runs.items():
            pairs[name].append((seconds(plain, count=STEPS), run()))
    print(f"{'a training step of GPT':<50} {'ms':>8} {'times plain':>12}")
    for name, taken in pairs.items():
        ratio = median([with_it / without for without, with_it in taken[1:]])
        each = statistics.median(with_it for _, with_it in taken[1:])
        print(f"{name:<50} {each * 1e3:>8.2f} {ratio.value:>12.2f}")
        if name.startswith("monitorch"):
            what = "a training step of a small GPT, every line, its gradient and the parameters recorded"
            claims.at_most(STEP_CLAIM, what, ratio, peer="the plain step")
    measure_memory(trace, plain, traced, claims)


# Generation


def load_llama(is_instrumented):
    module = load_program(paths.ROOT / "bench" / "llama.py", is_instrumented, functions=("*",))
    return module.Llama(vocabulary=1024, width=384, heads=6, depth=4)


def measure_generation(trace, claims):
    plain, traced = load_llama(False), load_llama(True)
    tokens = torch.randint(1024, (1, 8))

    def recorded():
        with trace.record():
            return seconds(traced.generate, tokens, TOKENS)

    pairs = [(seconds(plain.generate, tokens, TOKENS), recorded()) for _ in range(GENERATION_ROUNDS)]
    ratio = median([with_it / without for without, with_it in pairs[1:]])
    events = recording.count_events(trace.path) / 2 / TOKENS  # `seconds` warms up with as many
    each = statistics.median(without for without, _ in pairs) / TOKENS * 1e3
    print(f"a token of Llama: {each:.2f} ms, {events:.0f} events, {ratio.value:.2f} times plain")
    what = "greedy generation of a small Llama, every line recorded"
    claims.at_most(GENERATION_CLAIM, what, ratio, peer="the plain run")


def measure_size(trace, claims):
    traced, tokens = load_model(True), torch.randint(256, (2, 64))
    with trace.record(sample=8):
        for _ in range(200):
            traced(tokens)
    events = recording.count_events(trace.path)
    size = os.path.getsize(trace.path)
    print(f"{events} events are on disk")
    what = "an event on disk, with a sample of 8"
    claims.at_most(BYTES_CLAIM, what, size / events, peer="nothing else", unit="bytes")


def main():
    torch.set_num_threads(1)
    trace = Trace()
    claims = Claims("What recording costs")
    measure_events(trace, claims)
    show_forward(measure_forward(trace), claims)
    measure_training(trace, claims)
    measure_generation(trace, claims)
    measure_size(trace, claims)
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
