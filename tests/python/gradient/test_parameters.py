"""Parameters and steps in a recording with gradients: what was read, accumulated and written, at the
program's line; measured once; the program ends as without."""

import json
import subprocess
import textwrap

import pytest

from tests.python.gradient.test_gradients import load
from tests.support import paths, recording, viewer

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

TRAINING = """
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    scaler = torch.amp.GradScaler("cpu")
    for step in range(2):
        x = torch.ones(2, 4)
        y = model(x)
        loss = y.pow(2).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.01)
        scaler.step(optimizer)
        scaler.update()
    """


def records(path, *words):
    """What `show --backward --json` prints, in order: events of parameters, gradients, steps."""
    done = viewer.run("show", path, "--backward", "--json", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def record(tmp_path, body, **options):
    main, values = load(body)
    torch.manual_seed(0)
    with recording.record(tmp_path / "run.mtrace", backward=True, **options):
        main()
    return records(tmp_path / "run.mtrace"), values


def events(shown, name):
    return [r for r in shown if r["record"] == "event" and r.get("name") == name and r.get("parameter")]


def test_what_is_written_has_the_line_that_called_it(tmp_path):
    shown, _ = record(tmp_path, TRAINING)
    steps = [(r["kind"], r["name"], r["line"]) for r in shown if r["record"] == "step"]
    assert steps[:5] == [
        ("backward", "", 11),
        ("gradients", "GradScaler.unscale_", 12),
        ("gradients", "clip_grad_norm_", 13),
        ("gradients", "clip_grad_value_", 14),
        ("optimizer", "SGD.step", 15),
    ]
    written = [e["line"] for e in events(shown, "weight.grad")]
    assert written == [12, 13, 14] * 2
    weight = [(e["line"], "read" in e) for e in events(shown, "weight")]
    assert weight == [(8, True), (15, False), (15, False)]
    assert [e["value"] for e in events(shown, "SGD.momentum")] == [0.5]


def test_the_figures_are_those_of_the_program(tmp_path):
    shown, values = record(tmp_path, TRAINING)
    weight = values["model"].weight
    assert events(shown, "weight")[-1]["hash"] == hash_of(weight)
    assert events(shown, "weight.grad")[-1]["hash"] == hash_of(weight.grad)


def hash_of(tensor):
    from monitorch import _recorder

    return f"{_recorder.measure(tensor.detach())['hash']:016x}"


def test_what_a_counter_proves_unchanged_is_not_recorded_again(tmp_path):
    body = """
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
        optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
        for step in range(3):
            loss = model(torch.ones(2, 3)).sum()
            loss.backward()
            optimizer.step()
        """
    shown, _ = record(tmp_path, body)
    assert len(events(shown, "0.weight")) == 1  # no optimizer has it
    assert len(events(shown, "1.weight")) == 4


def test_a_line_without_a_site_is_named(tmp_path):
    body = """
        def train():
            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.Adam(model.parameters())
            model(torch.ones(1, 2)).sum().backward()
            (lambda: optimizer.step())()
        train()
        """
    shown, _ = record(tmp_path, body)
    written = [e for e in events(shown, "weight") if "read" not in e]
    assert [e["line"] for e in written] == [7]


def test_a_training_in_code_that_is_not_instrumented_names_its_line(tmp_path):
    (tmp_path / "loop.py").write_text(
        "def fit(optimizer, loss):\n    loss.backward()\n    optimizer.step()\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch, loop\n"
        "model = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "loss = model(torch.ones(1, 2)).sum()\n"
        "loop.fit(optimizer, loss)\n"
    )
    words = ["-m", "monitorch", "run", "-q", "--backward", "--exclude", "loop.py", "train.py"]
    done = subprocess.run(
        [recording.sys.executable, *words], cwd=tmp_path, env=recording.environment("off"),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = [e for e in events(records(tmp_path / "run.mtrace"), "weight") if "read" not in e]
    assert [(e["file"].rpartition("/")[2], e["line"]) for e in written] == [("train.py", 5)]


def test_sparse_gradients_have_figures(tmp_path):
    body = """
        table = torch.nn.Embedding(5, 3, sparse=True)
        optimizer = torch.optim.SparseAdam(table.parameters())
        rows = table(torch.tensor([0, 3]))
        rows.sum().backward()
        optimizer.step()
        """
    shown, _ = record(tmp_path, body)
    gradient = next(r for r in shown if r["record"] == "gradient" and r["name"] == "weight")
    assert gradient["mean"] == 1
    assert [e["line"] for e in events(shown, "weight")] == [5, 7]


def test_torchs_hooks_are_gone_when_the_recording_ends(tmp_path):
    from torch.optim import optimizer as module

    before = len(module._global_optimizer_pre_hooks), len(module._global_optimizer_post_hooks)
    main, values = load(TRAINING)
    with recording.record(tmp_path / "run.mtrace", backward=True):
        main()
        assert len(module._global_optimizer_pre_hooks) == before[0] + 1
    assert before == (
        len(module._global_optimizer_pre_hooks), len(module._global_optimizer_post_hooks)
    )  # fmt: skip
    assert not any(p._post_accumulate_grad_hooks for p in values["model"].parameters())


def test_nothing_is_kept_alive(tmp_path):
    import gc
    import weakref

    main, values = load(TRAINING)
    with recording.record(tmp_path / "run.mtrace", backward=True):
        main()
        dead = [weakref.ref(p) for p in values["model"].parameters()]
        dead += [weakref.ref(values["model"]), weakref.ref(values["optimizer"])]
        values.clear()
        del main
        gc.collect()
        assert [reference() for reference in dead] == [None] * 4


@pytest.mark.parametrize("optimizer", ["SGD(p, 0.1, momentum=0.9)", "AdamW(p)", "Adam(p, foreach=False)"])
def test_weights_optimizer_and_random_state_end_as_without(tmp_path, optimizer):
    body = TRAINING.replace("SGD(model.parameters(), lr=0.1, momentum=0.5)", optimizer)
    body = body.replace("optimizer = ", "p = list(model.parameters()); optimizer = ")
    found = []
    for trace in (None, tmp_path / "run.mtrace"):
        main, values = load(textwrap.dedent(body))
        torch.manual_seed(0)
        if trace is None:
            main()
        else:
            with recording.record(trace, backward=True):
                main()
        state = values["optimizer"].state_dict()["state"]
        tensors = [*values["p"], *(t for one in state.values() for t in one.values() if torch.is_tensor(t))]
        found.append(([t.detach() for t in tensors], torch.get_rng_state(), values["scaler"].state_dict()))
    assert all(torch.equal(a, b) for a, b in zip(found[0][0], found[1][0], strict=True))
    assert torch.equal(found[0][1], found[1][1]) and found[0][2] == found[1][2]


def test_parameters_of_equal_names_are_apart(tmp_path):
    body = """
        first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        second(first(torch.ones(1, 2))).sum().backward()
        optimizer.step()
        """
    shown, _ = record(tmp_path, body)
    names = {r["name"] for r in shown if r.get("parameter") and r["line"] == 6 and "read" not in r}
    assert names == {"weight", "bias", "weight@2", "bias@2"}
    assert [e["shape"] for e in events(shown, "weight@2")] == [[1, 2]] * 2


SETTINGS = """
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for step in range(3):
        loss = model(torch.ones(2, 4)).pow(2).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    for group in optimizer.param_groups:
        group["lr"] = 0.25
    """


def test_what_sets_a_step_is_recorded_at_its_line(tmp_path):
    shown, _ = record(tmp_path, SETTINGS)
    rates = [(e["line"], e["value"]) for e in events(shown, "SGD.lr")]
    assert rates == [(4, 1.0), (13, 0.1), (15, 0.25)], rates
    scales = [(e["line"], e["max"]) for e in events(shown, "GradScaler.scale")]
    assert scales[-1] == (12, 16.0)
    steps = [(r["kind"], r["name"], r["line"]) for r in shown if r["record"] == "step"]
    assert ("settings", "StepLR.step", 13) in steps and ("settings", "SGD.param_groups", 15) in steps
    assert steps.count(("gradients", "zero_grad", 9)) == 2
    assert steps.count(("settings", "GradScaler.update", 12)) == 3


def test_parameters_alone_have_no_gradients(tmp_path):
    body = """
        model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Linear(2, 2))
        model[0].weight.requires_grad_(False)
        optimizer = torch.optim.SGD(model[1].parameters(), lr=0.5)
        for step in range(2):
            y = model(torch.ones(2, 4))
            loss = y.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    main, values = load(body)
    torch.manual_seed(0)
    with recording.record(tmp_path / "run.mtrace", parameters=True):
        main()
    shown = records(tmp_path / "run.mtrace")
    assert not [r for r in shown if r["record"] == "gradient" or r.get("name", "").endswith(".grad")]
    assert [(e["line"], "read" in e) for e in events(shown, "1.weight")] == [(7, True), (11, False), (11, False)]
    assert [(e["line"], "read" in e) for e in events(shown, "0.weight")] == [(7, True)]
    assert events(shown, "1.weight")[-1]["hash"] == hash_of(values["model"][1].weight)


def test_parameters_alone_show_what_code_that_is_not_seen_has_written(tmp_path):
    body = """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 2)

            def forward(self, x):
                return self.layer(x)

        net = Net()
        kept = {name: value + 1 for name, value in net.state_dict().items()}
        with torch.no_grad():
            y = net(torch.ones(2, 2))
            net.load_state_dict(kept)
            z = net(torch.ones(2, 2))
    """
    main, values = load(body)
    with recording.record(tmp_path / "run.mtrace", parameters=True):
        main()
    found = events(records(tmp_path / "run.mtrace"), "layer.weight")
    assert len(found) == 2 and all("read" in e for e in found)
    assert found[-1]["hash"] == hash_of(values["net"].layer.weight)


def test_steps_and_parameters_are_tables(tmp_path):
    import monitorch

    shown, values = record(tmp_path, SETTINGS)
    events_ = monitorch.load(tmp_path / "run.mtrace")
    steps = [(r["kind"], r["name"] or "", r["line"]) for r in events_.steps]
    assert steps == [(r["kind"], r["name"], r["line"]) for r in shown if r["record"] == "step"]
    rates = [(r["line"], r["value"]) for r in events_.parameters if r["name"] == "SGD.lr"]
    assert rates == [(4, 1.0), (13, 0.1), (15, 0.25)]
    weights = [r for r in events_.parameters if r["name"] == "weight"]
    assert [r["what"] for r in weights[:3]] == ["read", "accumulated", "written"]
    assert weights[-1]["max"] == values["model"].weight.max().item() and weights[-1]["dtype"] == "float32"
    done = viewer.run("sql", tmp_path / "run.mtrace", "select count(*) from steps where kind = 'settings'")
    assert done.stdout.split()[-1] == str(sum(kind == "settings" for kind, _, _ in steps))
