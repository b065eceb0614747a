"""Saved folders read back and compared, and what CallTracer does beyond the old package."""

from __future__ import annotations

import json
import textwrap

import pytest

from tests.python.spy.signatures import names_in
from tests.support import recording, viewer

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import CallTracer, DebugContext, TensorSaver, spy_load, spy_save  # noqa: E402

from tests.python.spy.facts import Model, X  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

FORMATS = ["pt", "safetensors", "mtrace"]


def save_run(folder, seed=0, scale=1.0, **options):
    """Two steps of a model whose decoder's weights are scaled."""
    torch.manual_seed(seed)
    model = Model()
    with torch.no_grad():
        model.decoder.proj.weight.mul_(scale)
    saver = TensorSaver(folder, **options)
    saver.register_modules(model)
    for step in range(2):
        with DebugContext(saver, prefix=f"step{step}"):
            model(X + step)
    return model


# spy_load


@pytest.mark.parametrize("name", FORMATS)
def test_mapping(tmp_path, name):
    model = save_run(tmp_path, format=name)
    found = spy_load(tmp_path)
    assert sorted(found) == ["step0", "step1"] and len(found) == 2
    assert sorted(found["step0"]) == ["decoder", "encoder.0", "encoder.2"]
    assert list(found["step0"]["decoder"]) == ["y"]
    assert list(found["step0"]["decoder"]["y"]) == [0]
    assert torch.equal(found["step1"]["decoder"]["y"][0], model(X + 1))


def test_keys_of_four(tmp_path):
    save_run(tmp_path)
    found = spy_load(tmp_path)
    one = found["step0", "encoder.2", "y", 0]
    assert torch.equal(one, found["step0"]["encoder.2"]["y"][0])


def test_what_is_not_there(tmp_path):
    save_run(tmp_path)
    found = spy_load(tmp_path)
    for miss in (lambda: found["step9"], lambda: found["step0"]["decoder"]["y"][5]):
        with pytest.raises(KeyError):
            miss()
    assert "step9" not in found and "step0" in found


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    """A folder of more than memory is listed at once: the values are in no file here."""
    save_run(tmp_path)
    found = spy_load(tmp_path)
    listed = {prefix: sorted(found[prefix]) for prefix in found}
    (tmp_path / "step0.decoder.y.call0.pt").unlink()
    assert sorted(listed) == ["step0", "step1"]
    assert found["step0"]["encoder.0"]["y"][0].shape == (2, 3)
    with pytest.raises((OSError, KeyError)):
        found["step0"]["decoder"]["y"][0]


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        spy_load(tmp_path / "none")


def test_without_torch_and_without_numpy(tmp_path):
    save_run(tmp_path)
    program = """
    import sys
    sys.modules["numpy"] = sys.modules["torch"] = None  # cannot be imported
    from monitorch.spy import spy_load
    value = spy_load(sys.argv[1])["step0"]["decoder"]["y"][0]
    print(type(value).__name__, value.shape, value.format)
    """
    done = recording.run_python("-c", textwrap.dedent(program), tmp_path)
    assert done.stdout == "memoryview (2, 3) f\n", done.stderr


def test_damaged_file_leaves_the_others(tmp_path):
    save_run(tmp_path)
    (tmp_path / "step0.decoder.y.call0.pt").write_bytes(b"PK\x03\x04 nonsense")
    (tmp_path / "notes.txt").write_text("not ours")
    found = spy_load(tmp_path)
    assert found["step1"]["decoder"]["y"][0].shape == (2, 3)


def as_the_old_package(folder, other, scale=1.0):
    """The same tensors as the old package wrote them: by torch.save alone."""
    other.mkdir()
    for path in folder.iterdir():
        torch.save(torch.load(path, weights_only=True) * scale, other / path.name)


def test_folders_of_the_old_package(tmp_path):
    """What stands in front of the name cannot be told apart: it is taken for the module's path."""
    save_run(tmp_path / "new")
    as_the_old_package(tmp_path / "new", tmp_path / "old")
    found = spy_load(tmp_path / "old")
    assert sorted(found) == [""] and "step1.encoder.2" in found[""]
    new = spy_load(tmp_path / "new")["step1", "encoder.2", "y", 0]
    assert torch.equal(found["", "step1.encoder.2", "y", 0], new)


# diff


def diff(*words):
    return viewer.run("diff", *words)


@pytest.mark.parametrize("name", FORMATS)
def test_diff_of_equal_folders(tmp_path, name):
    for folder in "ab":
        save_run(tmp_path / folder, format=name)
    done = diff(tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("names", [("pt", "pt"), ("safetensors", "pt"), ("mtrace", "safetensors")])
def test_diff_tells_the_first_divergence(tmp_path, names):
    save_run(tmp_path / "a", format=names[0])
    save_run(tmp_path / "b", scale=2.0, format=names[1])
    done = diff(tmp_path / "a", tmp_path / "b")
    assert done.returncode == 1, done.stderr
    assert "first divergence" in done.stdout and "decoder" in done.stdout
    before = done.stdout[: done.stdout.index("first divergence")]
    assert "step1" not in before


def test_diff_in_json(tmp_path):
    save_run(tmp_path / "a")
    save_run(tmp_path / "b", scale=2.0)
    done = diff("--json", tmp_path / "a", tmp_path / "b")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and told and "decoder" in json.dumps(told)


def test_diff_of_rounding_is_equal_unless_exact(tmp_path):
    save_run(tmp_path / "a")
    save_run(tmp_path / "b", scale=1 + 1e-7)
    assert diff(tmp_path / "a", tmp_path / "b").returncode == 0
    assert diff("--exact", tmp_path / "a", tmp_path / "b").returncode == 1


def test_diff_tells_what_is_missing(tmp_path):
    for folder in "ab":
        save_run(tmp_path / folder)
    (tmp_path / "b" / "step1.decoder.y.call0.pt").unlink()
    done = diff(tmp_path / "a", tmp_path / "b")
    assert "step1" in done.stdout and "decoder" in done.stdout


def test_diff_of_norms_alone(tmp_path):
    for folder, scale in (("a", 1), ("b", 1), ("c", 3)):
        TensorSaver(tmp_path / folder).save("x", X * scale, norm_only=True)
    assert diff(tmp_path / "a", tmp_path / "b").returncode == 0
    assert diff(tmp_path / "a", tmp_path / "c").returncode == 1


def test_diff_with_a_folder_of_the_old_package(tmp_path):
    save_run(tmp_path / "new")
    as_the_old_package(tmp_path / "new", tmp_path / "same")
    as_the_old_package(tmp_path / "new", tmp_path / "other", scale=2.0)
    assert diff(tmp_path / "same", tmp_path / "new").returncode == 0
    done = diff(tmp_path / "other", tmp_path / "new")
    assert done.returncode == 1 and "step0.encoder.0.y" in done.stdout.splitlines()[0]


def test_diff_without_a_folder(tmp_path):
    save_run(tmp_path / "a")
    done = diff(tmp_path / "a", tmp_path / "none")
    assert done.returncode == 3 and "none" in done.stderr


# CallTracer


def test_shapes(tmp_path):
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model, (nn.Linear,), shapes=True)
    model(torch.zeros(2, 8))
    text = tracer.save_trace().read_text()
    assert text == "0\t[2, 8] -> [2, 4]"
    assert tracer.get_trace() == ["0"]


def test_without_shapes_a_path_a_line(tmp_path):
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model, target_names=["0", "1"])
    model(torch.zeros(2, 8))
    assert tracer.save_trace().read_text() == "0\n1"


def test_hooks_are_removed_at_the_end_where_asked(tmp_path):
    model = Model()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model, remove=True)
    with tracer:
        model(X)
    count = len(tracer.get_trace())
    model(X)
    assert tracer.hooks == [] and len(tracer.get_trace()) == count == 9


def test_hooks_are_removed_after_an_exception_too(tmp_path):
    model = Model()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model, remove=True)
    with pytest.raises(RuntimeError), tracer:
        model(torch.zeros(2, 9))
    assert tracer.hooks == [] and not any(m._forward_hooks for m in model.modules())


def test_calls_go_to_the_recorder(tmp_path):
    model = Model()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        model(X)
    done = recording.show(tmp_path / "run.mtrace")
    assert done.returncode == 0, done.stderr
    assert b"encoder.2" in done.stdout and b"decoder.proj" in done.stdout


def test_no_recorder_no_file(tmp_path):
    model = Model()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model)
    model(X)
    assert names_in(tmp_path) == []


# Call graphs


def calls(*words):
    return viewer.run("calls", *words)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "dot"])
def test_calls_command(tmp_path, suffix):
    model = Model()
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model)
    model(X)
    made = tmp_path / f"calls.{suffix}"
    done = calls(tracer.save_trace(), "-o", made)
    assert done.returncode == 0, done.stderr
    begins = {"png": b"\x89PNG", "svg": b"<", "pdf": b"%PDF", "dot": b""}[suffix]
    assert made.read_bytes().startswith(begins) and made.stat().st_size > 100


def test_calls_of_a_recorded_run(tmp_path):
    """The trace that a recorder wrote while hooks told it which modules were called."""
    model = Model()
    CallTracer(tmp_path).register_hooks(model)
    with recording.record(tmp_path / "run.mtrace"):
        model(X)
    done = calls(tmp_path / "run.mtrace", "-o", tmp_path / "calls.dot")
    assert done.returncode == 0, done.stderr
    assert "encoder" in (tmp_path / "calls.dot").read_text()


def test_saved_and_traced_at_once(tmp_path):
    model = Model()
    saver, tracer = TensorSaver(tmp_path / "saved"), CallTracer(tmp_path / "calls")
    saver.register_modules(model)
    tracer.register_hooks(model, (nn.Linear,))
    with recording.record(tmp_path / "run.mtrace"), DebugContext(saver, "p"), tracer:
        model(X)
        spy_save("x", X)
    assert len(names_in(tmp_path / "saved")) == 4 and len(tracer.get_trace()) == 3
    assert recording.show(tmp_path / "run.mtrace").returncode == 0
