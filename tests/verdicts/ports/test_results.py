"""Results of few numbers: a loss, indices, a number. "equal by values" holds for these too, or says which it leaves out."""

import pytest

from tests.support import recording, viewer

torch = pytest.importorskip("torch")

REFERENCE = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(8, 16)
        self.fc2 = torch.nn.Linear(16, 5)

    def forward(self, x):
        h = self.fc1(x)
        h = torch.relu(h)
        self.aux = h.mean(dim=1)
        aux = self.aux
        return self.fc2(h)


def main():
    torch.manual_seed(0)
    net = Net()
    x = torch.randn(6, 8)
    target = torch.tensor([0, 1, 2, 3, 4, 0])
    out = net(x)
    loss = torch.nn.functional.cross_entropy(out, target)
    pred = out.argmax(dim=1)
    number = float(out.std())
    return loss, pred


main()
"""

PORT = """
import torch


def project(w, b, data):
    return data @ w.t() + b


def encode(data, first, second):
    inner = project(first.weight, first.bias, data)
    gated = inner.clamp(min=0)
    side = gated.sum(1) / gated.shape[1]
    return project(second.weight, second.bias, gated)


def run():
    torch.manual_seed(0)
    first = torch.nn.Linear(8, 16)
    second = torch.nn.Linear(16, 5)
    batch = torch.randn(6, 8)
    labels = torch.tensor([0, 1, 2, 3, 4, 0])
    logits = encode(batch, first, second)
    shares = torch.log_softmax(logits, 1)
    cost = -shares[torch.arange(6), labels].mean()
    guess = torch.max(logits, 1).indices
    value = logits.std().item()
    return cost, guess


run()
"""

COST = "-shares[torch.arange(6), labels].mean()"
SIDE = "gated.sum(1) / gated.shape[1]"

# What is replaced, by what, and the name of the result that differs.
WRONG = {
    "loss is a sum": (COST, COST.replace("mean", "sum"), "cost"),
    "a label": ("3, 4, 0]", "3, 4, 1]", "cost"),
    "indices of the least": ("torch.max(logits, 1)", "torch.min(logits, 1)", "guess"),
    "other axis": ("torch.max(logits, 1)", "torch.max(logits, 0)", "guess"),
    "indices in another order": (".indices", ".indices.flip(0)", "guess"),
    "number": ("logits.std()", "logits.var()", "value"),
    "side result of another axis": (SIDE, "gated.mean(0)", "side"),
    "side result in another order": (SIDE, f"({SIDE}).flip(0)", "side"),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    known = {}

    def of(source):
        if source not in known:
            known[source] = folder / f"{len(known)}.mtrace"
            recording.trace_of(source, known[source])
        return known[source]

    return of


def diff(record, old="", new="", *words):
    assert old in PORT
    return viewer.run(
        "diff", "--by-values", *words, record(REFERENCE), record(PORT.replace(old, new))
    )


def test_a_right_port_is_equal_though_its_loss_has_a_step_more(record):
    done = diff(record)
    assert done.returncode == 0 and done.stdout.startswith("equal by values: "), done.stdout


@pytest.mark.parametrize("name", WRONG)
def test_a_result_that_differs_is_named(record, name):
    old, new, result = WRONG[name]
    done = diff(record, old, new)
    assert done.returncode == 1, done.stdout
    assert f": first divergence: {result}: " in done.stdout.splitlines()[0], done.stdout
    assert "not certain" in done.stdout


def test_results_that_one_run_has_alone_are_listed(record):
    more = "    value = logits.std().item()\n"
    done = diff(record, more, more + "    spare = logits.amax() * 3.5\n")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("equal by values as far as both have results: "), done.stdout
    assert "\n  not in A: spare (line " in done.stdout
    done = diff(record, more, "")
    assert done.returncode == 0, done.stdout
    assert "\n  not in B: " in done.stdout
    verdict = diff(record, more, "", "--json").stdout
    assert '"results_not_in_a":0' in verdict and '"results_not_in_b":1' in verdict


def test_a_trace_that_is_read_in_part_is_never_equal(record, tmp_path):
    whole = record(REFERENCE)
    cut = tmp_path / "cut.mtrace"
    cut.write_bytes(whole.read_bytes()[:-200])
    for pair in ((whole, cut), (cut, whole)):
        done = viewer.run("diff", "--by-values", *pair)
        assert done.returncode == 3 and "cut.mtrace: offset " in done.stderr, done.stderr


def test_a_map_without_an_end_is_refused(record):
    done = viewer.run(
        "diff", "--map-file", "/dev/zero", record(REFERENCE), record(PORT), timeout=60
    )
    assert done.returncode == 3 and "/dev/zero" in done.stderr, done.stderr
