"""What recording costs where there are no tensors: loops over numbers, and containers that grow.

Claims: loops that fill and read lists, dicts and sets of 100,000 numbers, as a tokenizer does, take at
most 2.5 times the plain run; a small training after such a tokenizer at most 1.15 times; appending the
last 100 of 1,000 tensors to a list or dict costs at most 1.5 times the first 100. Exit code 1 where a
claim does not hold.
"""

import os
import statistics
import sys
import tempfile
import time

import torch
from claims import Claims, best, median

from tests.support import compiler, recording

LOOPS = b"""
def fill(n):
    numbers = []
    for i in range(n):
        numbers.append(i * 3)
    return numbers

def count(numbers):
    counts = {}
    for number in numbers:
        key = number % 1000
        counts[key] = counts.get(key, 0) + 1
    return counts

def unique(numbers):
    seen = set()
    for number in numbers:
        seen.add(number // 7)
    return seen

def loops(n, rounds):
    for turn in range(rounds):
        numbers = fill(n)
        counts = count(numbers)
        seen = unique(numbers)
    return len(seen) + len(counts)
"""

TRAINING = b"""
def tokenize(text):
    vocabulary = {}
    ids = []
    for word in text:
        if word not in vocabulary:
            vocabulary[word] = len(vocabulary)
        ids.append(vocabulary[word])
    return ids

def train(model, optimizer, batches, loss_function):
    total = 0.0
    for x, target in batches:
        out = model(x)
        loss = loss_function(out, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total

def run(text, model, optimizer, make_batches, loss_function):
    ids = tokenize(text)
    return train(model, optimizer, make_batches(ids), loss_function)
"""

GROWING = b"""
def grow(tensors, times, now):
    kept = []
    for h in tensors:
        kept.append(h)
        times.append(now())
    return kept

def grow_dict(tensors, times, now):
    kept = {}
    for h in tensors:
        kept[len(kept)] = h
        times.append(now())
    return kept
"""

ROUNDS = 7
LOOPS_CLAIM, TRAINING_CLAIM, GROWING_CLAIM = 2.5, 1.15, 1.5


def load(source, is_traced):
    text = compiler.instrument(source, "plain_loops.py", all=True).text if is_traced else source
    space = {"__name__": "plain_loops"}
    exec(compile(text, "plain_loops.py", "exec", dont_inherit=True), space)
    return space


def seconds(function, *arguments):
    started = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - started


def loop_times(path):
    plain, traced = load(LOOPS, False)["loops"], load(LOOPS, True)["loops"]
    times, without = [], []
    for _ in range(ROUNDS):
        without.append(seconds(plain, 100_000, 10))
        with recording.record(path):
            times.append(seconds(traced, 100_000, 10))
    return times, without


def make_training():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Embedding(1000, 128), torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1000)
    )  # fmt: skip
    text = [str(i * 7919 % 1000) for i in range(200_000)]

    def make_batches(ids):
        x = torch.tensor(ids[:20_480]).view(-1, 512)
        return [(row, row.roll(1)) for row in x]

    return (
        text,
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        make_batches,
        torch.nn.functional.cross_entropy,
    )


def training_ratios(path):
    plain, traced = load(TRAINING, False)["run"], load(TRAINING, True)["run"]
    made = make_training()
    seconds(plain, *made)
    ratios = []
    for _ in range(ROUNDS):
        without = seconds(plain, *made)
        with recording.record(path):
            ratios.append(seconds(traced, *made) / without)
    return ratios


def growing_ratios(path, name):
    """The time of the last 100 of 1,000 over that of the first 100."""
    ratios = []
    for _ in range(ROUNDS):
        times = []
        with recording.record(path):
            load(GROWING, True)[name](
                [torch.ones(16) for _ in range(1000)], times, time.perf_counter
            )
        steps = [b - a for a, b in zip(times, times[1:])]
        ratios.append(statistics.median(steps[-100:]) / statistics.median(steps[:100]))
    return ratios


def main():
    torch.set_num_threads(1)
    claims = Claims("What recording costs where there are no tensors")
    with tempfile.TemporaryDirectory(prefix="monitorch-bench-") as folder:
        path = os.path.join(folder, "bench.mtrace")
        claims.at_most(LOOPS_CLAIM, "loops over lists, dicts and sets of 100,000 numbers",
                       best(*loop_times(path)), peer="the plain run")  # fmt: skip
        claims.at_most(TRAINING_CLAIM, "a training with a tokenizer in plain Python",
                       median(training_ratios(path)), peer="the plain run")  # fmt: skip
        for name, what in (("grow", "list"), ("grow_dict", "dict")):
            claims.at_most(GROWING_CLAIM, f"adding the last 100 of 1,000 tensors to a {what}",
                           median(growing_ratios(path, name)), peer="the first 100")  # fmt: skip
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
