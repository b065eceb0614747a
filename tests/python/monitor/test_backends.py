"""Where metrics go: the real TensorBoard, a stand-in for wandb, files, pandas."""

import csv
import json
import math
import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

from monitorch.monitor import Histogram, ModuleMonitor, StorageManager  # noqa: E402
from monitorch.monitor.backends import make_csv_sink, make_jsonl_sink  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


def train(*destinations, steps=5):
    """The monitor of a small run, whose metrics went where the functions say."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    monitor = ModuleMonitor(monitor_step_fn=lambda step: step % 2 == 0)
    monitor.set_module(model)
    monitor.add_activation_metric("rms", "rms")
    monitor.add_activation_metric("spread", "hist", metric_regex="0")
    monitor.add_gradient_metric("norm", lambda gradient: gradient.norm())
    for add in destinations:
        add(monitor)
    for step in range(steps):
        monitor.begin_step(step)
        model(torch.randn(8, 3)).pow(2).sum().backward()
        monitor.monitor_gradients()
        monitor.log_scalar('RCC (W_t-W_0)x_t/odd, "key"', step)
        model.zero_grad()
        monitor.end_step()
    monitor.close()
    return monitor


# ---- wandb ----


class Run:
    """What a wandb run has of use here."""

    def __init__(self):
        self.calls = []

    def log(self, data, step=None):
        self.calls.append((step, data))


def test_wandb():
    run = Run()
    monitor = train(lambda monitor: monitor.to_wandb(run))
    assert run.calls == list(monitor.get_all_metrics().items())
    assert [step for step, _ in run.calls] == [0, 2, 4]


def test_wandb_has_histograms_of_its_own(monkeypatch):
    """With edges that are finite, as it needs them."""

    class Module:
        class Histogram:
            def __init__(self, *, np_histogram):
                self.counts, self.edges = np_histogram

    monkeypatch.setitem(sys.modules, "wandb", Module)
    run = Run()
    train(lambda monitor: monitor.to_wandb(run))
    told = run.calls[0][1]["activation/0/spread"]
    assert sum(told.counts) == 32 and len(told.edges) == len(told.counts) + 1
    assert all(map(math.isfinite, told.edges)) and told.edges == sorted(set(told.edges))


def test_what_is_no_run_is_refused():
    with pytest.raises(TypeError, match="to_wandb.*log.*int"):
        train(lambda monitor: monitor.to_wandb(3))
    with pytest.raises(TypeError, match="to_tensorboard.*add_scalar.*Run"):
        train(lambda monitor: monitor.to_tensorboard(Run()))


def test_a_run_that_fails_does_not_stop_the_training(caplog):
    class Broken(Run):
        def log(self, data, step=None):
            raise ConnectionError("no network")

    class Stuck:
        def write(self, step, metrics, histograms):
            pass

        def close(self):
            raise OSError("still no network")

    run = Run()
    monitor = train(
        lambda m: m.add_sink(Stuck()), lambda m: m.to_wandb(Broken()), lambda m: m.to_wandb(run)
    )
    assert [step for step, _ in run.calls] == [0, 2, 4] == list(monitor.get_all_metrics())
    assert caplog.text.count("no network") == 2 and caplog.text.count("still") == 1


# ---- TensorBoard ----


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    folder = tmp_path_factory.mktemp("events")
    writer = SummaryWriter(str(folder))
    monitor = train(lambda monitor: monitor.to_tensorboard(writer))
    read = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0})
    return monitor, read.Reload()


def test_tensorboard_scalars(events):
    """All of them, under their keys, before the writer is closed."""
    monitor, read = events
    expected = monitor.storage.condensed_log_dict()
    assert set(read.Tags()["scalars"]) == set(expected)
    for key, entry in expected.items():
        told = {event.step: event.value for event in read.Scalars(key)}
        assert told == pytest.approx(entry, rel=1e-6), key


def test_tensorboard_histograms(events):
    monitor, read = events
    assert read.Tags()["histograms"] == ["activation/0/spread"]
    told = read.Histograms("activation/0/spread")
    assert [event.step for event in told] == [0, 2, 4]
    for event in told:
        histogram = monitor.storage.get_step_histograms(event.step)["activation/0/spread"]
        value = event.histogram_value
        assert value.num == sum(histogram.counts) == 32
        assert sum(value.bucket) == 32
        assert all(map(math.isfinite, value.bucket_limit))


# ---- files ----


def test_csv(tmp_path):
    path = tmp_path / "metrics.csv"
    monitor = train(lambda monitor: monitor.to_csv(path))
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["step", "key", "value"]
    told = [(int(step), key, float(value)) for step, key, value in rows[1:]]
    assert told == [
        (step, key, value)
        for step, metrics in monitor.get_all_metrics().items()
        for key, value in metrics.items()
    ]


def test_jsonl(tmp_path):
    path = tmp_path / "metrics.jsonl"
    monitor = train(lambda monitor: monitor.to_jsonl(path))
    told = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["step"]: line["metrics"] for line in told} == monitor.get_all_metrics()
    histogram = monitor.storage.get_step_histograms(2)["activation/0/spread"]
    line = told[1]["histograms"]["activation/0/spread"]
    assert line["counts"] == list(histogram.counts)
    assert [float(edge) for edge in line["edges"]] == list(histogram.edges)


def test_a_run_that_goes_on_appends(tmp_path):
    for _ in range(2):
        train(lambda m: m.to_csv(tmp_path / "m.csv"), lambda m: m.to_jsonl(tmp_path / "m.jsonl"))
    rows = (tmp_path / "m.csv").read_bytes().split(b"\r\n")
    assert rows.count(b"step,key,value") == 1 and rows[0] == b"step,key,value"
    steps = [json.loads(line)["step"] for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert steps == [0, 2, 4, 0, 2, 4]


ODD = {
    "nan": math.nan, "inf": math.inf, "minus": -math.inf, "int": 7, "large": 10**400, "bool": True,
    "tiny": 5e-324, '=cmd("x")': 1.0, "a,b": 1.0, 'quote"': 1.0, "line\nend": 1.0,
    "\x1b[31mred": 1.0, "注意": 1.0, "\udc80": 1.0, "": 1.0, "text": "not a number",
}  # fmt: skip


def test_odd_values_in_csv(tmp_path):
    sink = make_csv_sink(tmp_path / "m.csv")
    sink.write(3, ODD, {})
    text = (tmp_path / "m.csv").read_bytes().decode()
    assert "\x1b" not in text and "text" not in text
    told = {key: value for _, key, value in csv.reader(text.splitlines(keepends=True)[1:])}
    assert told["nan"] == "NaN" and told["inf"] == "Infinity" and told["minus"] == "-Infinity"
    assert told["int"] == "7" and told["large"] == "Infinity" and float(told["tiny"]) == 5e-324
    assert told['\'=cmd("x")'] and told["a,b"] and told['quote"'] and told["line\nend"]
    assert told["?[31mred"] and told["注意"] and told[""]


def test_odd_values_in_json(tmp_path):
    sink = make_jsonl_sink(tmp_path / "m.jsonl")
    sink.write(-3, ODD, {"h": Histogram((1, 2), (-math.inf, 0.0, math.inf))})
    sink.write(4, {}, {})

    def refuse(name):
        raise AssertionError(name)

    first, second = (tmp_path / "m.jsonl").read_bytes().splitlines()
    told = json.loads(first, parse_constant=refuse)
    assert told["step"] == -3 and second == b'{"step":4,"metrics":{}}'
    metrics = told["metrics"]
    assert metrics["nan"] == "NaN" and metrics["large"] == "Infinity" and metrics["int"] == 7
    assert metrics["\x1b[31mred"] == metrics["line\nend"] == metrics["注意"] == 1.0
    assert metrics["tiny"] == 5e-324 and "text" not in metrics
    assert told["histograms"] == {"h": {"counts": [1, 2], "edges": ["-Infinity", 0.0, "Infinity"]}}


@pytest.mark.parametrize("make", [make_csv_sink, make_jsonl_sink])
def test_a_file_that_cannot_be_written_is_told_at_once(tmp_path, make):
    with pytest.raises(OSError, match="none"):
        make(tmp_path / "none" / "m")


def test_full_disk(tmp_path):
    """A warning, whole lines, and what was missing once there is room."""
    program = """
        import json, logging, resource, signal, sys
        from monitorch.monitor.backends import make_csv_sink, make_jsonl_sink
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sinks = make_csv_sink(sys.argv[1] + "/m.csv"), make_jsonl_sink(sys.argv[1] + "/m.jsonl")
        def write(step):
            for sink in sinks:
                try:
                    sink.write(step, {"k": step}, {})
                except OSError as error:
                    assert sys.argv[1] in error.filename, error
                    print("refused", step)
        write(0)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40, resource.RLIM_INFINITY))
        write(1)
        write(2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        write(3)
        """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "refused 2" in run.stdout
    lines = (tmp_path / "m.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 1, 2, 3]
    rows = (tmp_path / "m.csv").read_text().split()
    assert rows == ["step,key,value", "0,k,0", "1,k,1", "2,k,2", "3,k,3"]


def test_child_processes_leave_the_file_alone(tmp_path):
    sink = make_csv_sink(tmp_path / "m.csv")
    process = os.fork()
    if process == 0:
        sink.write(0, {"k": 1}, {})
        os._exit(0)
    os.waitpid(process, 0)
    sink.write(1, {"k": 2}, {})
    assert (tmp_path / "m.csv").read_text().split() == ["step,key,value", "1,k,2"]


# ---- pandas ----


def test_dataframe():
    pandas = pytest.importorskip("pandas")
    monitor = train()
    frame = monitor.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "step"
    assert list(frame.index) == [0, 2, 4]
    for key, entry in monitor.storage.condensed_log_dict().items():
        assert frame[key].to_dict() == entry


def test_dataframe_of_keys_that_are_not_always_there():
    pytest.importorskip("pandas")
    from monitorch.monitor.backends import make_dataframe

    storage = StorageManager()
    storage.load_metrics({"a": {20: 1.0, 0: 2.0}, "b": {0: 3.0}})
    frame = make_dataframe(storage)
    assert list(frame.index) == [0, 20] and frame["a"].tolist() == [2.0, 1.0]
    assert frame["b"][0] == 3.0 and math.isnan(frame["b"][20])
    assert make_dataframe(StorageManager()).empty


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        train().to_dataframe()
