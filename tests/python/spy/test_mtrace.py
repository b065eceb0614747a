"""TensorSaver(format="mtrace"): what stands in the trace, for show, diff and spy_load."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import textwrap
import threading

import pytest

from tests.support import paths, recording, threads, viewer, warm

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch import _recorder  # noqa: E402
from monitorch.spy import DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

from tests.support.module_calls import calls_of, events_of, records_of  # noqa: E402

pytestmark = pytest.mark.torch

X = torch.arange(6.0).view(2, 3)
PLACE = ("model.py", 7, "Model.forward")
DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "saved.mtrace"


def saved_notes(path):
    notes = [r for r in records_of(path) if r["record"] == "note" and r["tag"] == "saved"]
    return [json.loads(note["text"]) for note in notes]


def write(path, *tensors, **options):
    writer = _recorder.TraceWriter(path)
    for call, tensor in enumerate(tensors):
        writer.add(tensor, ("p", "encoder.attn", "q", call), place=PLACE, **options)
    assert writer.count == len(tensors)
    writer.finish()


def load(path):
    """The tensors that write() has written."""
    found = spy_load(path)
    return [found["p", "encoder.attn", "q", call] for call in range(len(list(found.tensors())))]


def bits(tensor):
    return tensor.detach().resolve_conj().contiguous().view(torch.uint8)


# What stands in it


def test_each_tensor_is_an_event_where_it_was_saved(path):
    write(path, X, X + 1)
    context, first, second = calls_of(path)
    assert (context["function"], context["depth"]) == ("p", 0)
    for call in (first, second):
        told = [call[key] for key in ("function", "module", "file", "depth", "parent")]
        assert told == ["Model.forward", "encoder.attn", "model.py", 1, context["call"]]
    events = events_of(path)
    assert [(e["kind"], e["name"], e["line"], e["shape"]) for e in events] == [
        ("spy", "q", 7, [2, 3])
    ] * 2
    assert (events[1]["min"], events[1]["max"], events[1]["zeros"]) == (1, 6, 0)


def test_what_it_was_saved_as_stands_behind(path):
    write(path, X, X)
    first, second = saved_notes(path)
    wanted = {"prefix": "p", "module": "encoder.attn", "name": "q", "call": 0}
    wanted |= {"file": "model.py", "line": 7, "function": "Model.forward"}
    assert {key: first[key] for key in wanted} == wanted
    assert second["call"] == 1 and second["order"] == first["order"] + 1


def test_people_are_not_shown_that(path):
    write(path, X)
    shown = viewer.run("show", path)
    assert shown.returncode == 0 and "spy q = float32 [2, 3]" in shown.stdout
    assert "prefix" not in shown.stdout and "order" not in shown.stdout


def test_timelines_are_not_told_that(path, tmp_path):
    write(path, X)
    made = tmp_path / "timeline.json"
    assert viewer.run("export", path, "--perfetto", made).returncode == 0
    names = [event.get("name") for event in json.loads(made.read_text())["traceEvents"]]
    assert "Model.forward" in names and "remark" not in names


def test_contexts_are_calls(path):
    writer = _recorder.TraceWriter(path)
    for prefix in ("a", "a", "b", "", "a"):
        writer.add(X, (prefix, "m", "x", 0), place=PLACE)
    writer.finish()
    calls = calls_of(path)
    names = [(c["function"], c["depth"]) for c in calls]
    inner = ("Model.forward", 1)
    assert names == [("a", 0), inner, inner, ("b", 0), inner, ("Model.forward", 0), ("a", 0), inner]


def test_threads_have_contexts_of_their_own(path):
    writer = _recorder.TraceWriter(path)

    def work(number):
        threading.current_thread().name = f"worker {number}"
        for call in range(30):
            writer.add(X + number, (f"p{number}", "m", "x", call), place=PLACE)

    threads.run_for(range(3), work)
    writer.finish()
    by_number = {c["call"]: c for c in calls_of(path)}
    events = events_of(path)
    assert len(events) == 90
    for event in events:
        parent = by_number[by_number[event["call"]]["parent"]]
        assert parent["function"] == f"p{int(event['min'])}"
        assert parent["thread_name"] == f"worker {int(event['min'])}"


def test_many_places_and_names(path):
    writer = _recorder.TraceWriter(path)
    for i in range(300):
        writer.add(torch.tensor(i), ("p", "m", f"x{i % 150}", i), place=("f.py", i % 150 + 1, "f"))
    writer.finish()
    events = events_of(path)
    assert [(e["name"], e["line"]) for e in events] == [
        (f"x{i % 150}", i % 150 + 1) for i in range(300)
    ]


# Whole values


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(path, dtype):
    torch.manual_seed(0)
    wide = torch.randn(5, 7) * 3
    tensor = wide.to(dtype) if dtype is not torch.bool else wide > 0
    write(path, tensor, tensor.t(), tensor[1:4, ::2], tensor[0, 0], tensor[:0])
    for found, wanted in zip(load(path), [tensor, tensor.t(), tensor[1:4, ::2], tensor[0, 0]]):
        assert found.dtype == dtype and found.shape == wanted.shape
        assert torch.equal(bits(found.reshape(-1)), bits(wanted.reshape(-1)))


def test_views_and_parameters(path):
    complex_one = torch.randn(3, dtype=torch.complex64)
    tensors = [
        torch.ones(3).expand(4, 3),
        complex_one.conj(),
        torch._neg_view(X),
        torch.nn.Parameter(X),
        (X.clone().requires_grad_() * 2),
        torch.empty(0, 3),
        torch.tensor(float("nan")),
        X.to_sparse(),
    ]
    write(path, *tensors)
    for found, wanted in zip(load(path), tensors):
        wanted = wanted.detach().to_dense() if wanted.is_sparse else wanted.detach()
        assert torch.equal(bits(found.reshape(-1)), bits(wanted.resolve_neg().reshape(-1)))
        assert not found.requires_grad


def test_values_longer_than_a_piece(path):
    large = torch.randn(1000, 101)
    write(path, large, large.t(), large.double()[::3])
    found = load(path)
    assert torch.equal(found[0], large) and torch.equal(found[1], large.t())
    assert torch.equal(found[2], large.double()[::3])


def test_norms(path):
    write(path, X, torch.tensor(-3.0), norm_only=True)
    found = load(path)
    assert torch.allclose(found[0], X.norm(dim=1)) and found[1] == 3


def test_what_is_no_number_has_no_norms(path):
    packed = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    writer = _recorder.TraceWriter(path)
    with pytest.raises(TypeError, match="has no norm"):
        writer.add(packed, ("", "m", "x", 0), norm_only=True)
    assert writer.count == 0
    writer.finish()


# Savers and commands


def save(folder, scale=1.0):
    saver = TensorSaver(folder, format="mtrace")
    for step in range(2):
        with DebugContext(saver, f"step{step}"):
            spy_save("x", X)
            spy_save("y", X * scale + step)
            spy_save("é/x", (X, [X]))
    return [str(path) for path in sorted(folder.glob("*.mtrace"))]


def test_a_trace_a_context(tmp_path):
    found = save(tmp_path)
    assert [os.path.basename(path) for path in found] == [
        "step0.context0.mtrace",
        "step1.context0.mtrace",
    ]
    assert [e["name"] for e in events_of(found[0])] == ["x", "y", "é/x[0]", "é/x[1][0]"]
    loaded = spy_load(tmp_path)
    assert torch.equal(loaded["step1"]["manual"]["y"][0], X + 1)


def test_traces_of_two_runs_are_compared(tmp_path):
    for name in ("one", "two", "other"):
        (tmp_path / name).mkdir()
    one, two = save(tmp_path / "one")[0], save(tmp_path / "two")[0]
    other = save(tmp_path / "other", scale=2.0)[0]
    assert viewer.run("diff", one, two).returncode == 0
    differing = viewer.run("diff", one, other)
    assert differing.returncode == 1 and "first divergence: y" in differing.stdout


# What fails


def test_what_is_no_tensor(path):
    writer = _recorder.TraceWriter(path)
    with pytest.raises(TypeError):
        writer.add("text", ("", "m", "x", 0))
    with pytest.raises(TypeError):
        writer.add(X, ("m", "x", 0))
    writer.add(X, ("", "m", "x", 0))
    writer.finish()
    assert len(events_of(path)) == 1


def test_finished_is_finished(path):
    writer = _recorder.TraceWriter(path)
    writer.finish()
    writer.finish()
    writer.abandon()
    with pytest.raises(ValueError, match="finished"):
        writer.add(X, ("", "m", "x", 0))


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        _recorder.TraceWriter(tmp_path / "no" / "a.mtrace")


def run_child(program, *words):
    environment = recording.environment("off", base=os.environ)
    command = [warm.python(), "-c", textwrap.dedent(program), *map(str, words)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, cwd=paths.ROOT, timeout=300
    )


def test_a_killed_program_leaves_what_it_saved(path):
    done = run_child(
        """
        import os, signal, sys, torch
        from monitorch import _recorder
        writer = _recorder.TraceWriter(sys.argv[1])
        for call in range(3):
            writer.add(torch.ones(100, 100) * call, ("", "m", "x", call))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        path,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    found = spy_load(path)
    assert torch.equal(found["", "m", "x", 2], torch.ones(100, 100) * 2)


def test_a_forked_child_leaves_the_file_alone(path):
    writer = _recorder.TraceWriter(path)
    writer.add(X, ("", "m", "x", 0))
    child = os.fork()
    if child == 0:
        try:
            writer.add(X, ("", "m", "x", 1))
        except ValueError:
            writer.abandon()
            os._exit(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    writer.add(X, ("", "m", "x", 2))
    writer.finish()
    assert [note["call"] for note in saved_notes(path)] == [0, 2]


def test_a_full_disk_raises_with_the_name(path):
    done = run_child(
        """
        import resource, sys, torch
        from monitorch import _recorder
        writer = _recorder.TraceWriter(sys.argv[1])
        writer.add(torch.ones(10), ("p", "m", "small", 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            for call in range(100):
                writer.add(torch.ones(100_000), ("p", "m", "large", call))
        except OSError as error:
            print(error.errno, error)
        """,
        path,
    )
    assert done.returncode == 0, done.stderr
    assert "p.m.large" in done.stdout and str(path) in done.stdout
    assert torch.equal(spy_load(path)["p", "m", "small", 0], torch.ones(10))
