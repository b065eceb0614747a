"""spy_load: keys, names, what is found without torch, files that change or are missing."""

from __future__ import annotations

import os
import textwrap

import pytest

from tests.support import recording, threads, warm

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, SavedTensors, TensorSaver, spy_load, spy_save  # noqa: E402

pytestmark = pytest.mark.torch

FORMATS = ["pt", "safetensors", "mtrace"]

# Names and keys

NAMES = [
    "q",
    "a/b",
    "../up",
    ".hidden",
    "with space",
    "new\nline",
    "größe",
    "注意",
    "cache[0]['k.j']",
    "a.b",
    "q.call7",
    "%41",
    "~",
    "",
    "x" * 300,
    "y" * 300 + "z",
]


@pytest.mark.parametrize("name", FORMATS)
def test_names_come_back(tmp_path, name):
    saver = TensorSaver(tmp_path, format=name)
    for prefix in ("", "p/q"):
        with DebugContext(saver, prefix=prefix):
            for i, given in enumerate(NAMES):
                spy_save(given, torch.full((2,), float(i)))
    found = spy_load(tmp_path)
    assert list(found) == ["", "p/q"]
    for prefix in found:
        assert list(found[prefix]["manual"]) == NAMES
        for i, given in enumerate(NAMES):
            assert found[prefix, "manual", given, 0].tolist() == [i, i]


def test_names_of_files_alone(tmp_path):
    """Files without a line of ours: what can be told from their names."""
    wanted = {
        "step0.encoder.attn.q.call12.pt": ("step0.encoder.attn", "q", 12),
        "manual.cache[0]['k.j'].call2.pt": ("manual", "cache[0]['k.j']", 2),
        "a%2Fb.%2Ehid%C3%A9.call0.pt": ("a/b", ".hidé", 0),
        "%FF.call1.pt": ("", "%FF", 1),
        "weights.pt": ("", "weights", 0),
        "odd].call3.pt": ("", "odd]", 3),
    }
    for name in wanted:
        torch.save(torch.ones(1), tmp_path / name)
    found = {e.file_name: (e.module, e.name, e.call) for e in spy_load(tmp_path).entries()}
    assert found == wanted
    assert all(entry.order is None for entry in spy_load(tmp_path).entries())


def save_some(folder, **options):
    saver = TensorSaver(folder, **options)
    for step in range(2):
        with DebugContext(saver, prefix=f"step{step}"):
            for call in range(12):
                spy_save("q", torch.tensor([step, call]))
            spy_save("attn_weights", torch.ones(3))
    return saver


@pytest.mark.parametrize("name", FORMATS)
def test_keys(tmp_path, name):
    save_some(tmp_path, format=name)
    found = spy_load(tmp_path)
    assert isinstance(found, SavedTensors) and list(found) == ["step0", "step1"]
    assert list(found["step1"]["manual"]["q"]) == list(range(12))
    assert found["step1", "manual"]["q", 11].tolist() == [1, 11]
    assert found["step1"]["manual", "q", 11].tolist() == [1, 11]
    assert [t.tolist() for t in found[None, None, "q", 3].tensors()] == [[0, 3], [1, 3]]
    assert len(found["step0", None, None, None].entries()) == 13
    assert list(found["step0", None, "q", None]) == ["step0"]
    assert ("step0", "manual", "q", 3) in found and ("step0", "manual", "q", 30) not in found
    assert ("step0", None, "k") not in found and ["a list"] not in found and 3 not in found
    for wrong in (("step0", "manual", "k", 0), "step9", ("step0", "manual", "q", 0, 0), 3):
        with pytest.raises(KeyError):
            found[wrong]
    with pytest.raises(KeyError, match="matches 'k'; name is one of 'q', 'attn_weights'"):
        found["step0"]["manual"]["k"]
    assert {key: value.shape for key, value in found["step0"]["manual"]["q"].items()} == {
        call: (2,) for call in range(12)
    }


def test_equality_is_identity(tmp_path):
    save_some(tmp_path)
    found = spy_load(tmp_path)
    assert found == found and found != spy_load(tmp_path) and len({found, found}) == 1


def test_find(tmp_path):
    save_some(tmp_path)
    found = spy_load(tmp_path)
    assert len(found.find(name="attn*").tensors()) == 2
    assert len(found.find(prefix="step[!0]", call="1?").tensors()) == 2
    assert [t.tolist() for t in found.find(name="q", call=5).tensors()] == [[0, 5], [1, 5]]
    assert len(found.find(module="encoder.*")) == 0
    assert found["step0"].find(name="q")["manual"]["q"][0].tolist() == [0, 0]
    flat = found.find(name="q", prefix="step1").flat()
    assert list(flat) == [("step1", "manual", "q", call) for call in range(12)]
    assert repr(found) == f"<SavedTensors: 26 tensors of {tmp_path}; prefix: 'step0', 'step1'>"


@pytest.mark.parametrize("name", FORMATS)
def test_entries_tell_where_it_was_saved(tmp_path, name):
    save_some(tmp_path, format=name)
    entries = spy_load(tmp_path).entries()
    orders = [entry.order for entry in entries]
    assert orders == sorted(orders) and len(set(orders)) == 26
    first = entries[0]
    assert first.key == ("step0", "manual", "q", 0)
    assert (first.dtype, first.shape, first.format) == ("int64", (2,), name)
    assert os.path.samefile(first.file, __file__) and first.function == "save_some"
    lines = open(__file__, encoding="utf-8").read().splitlines()
    assert 'spy_save("q"' in lines[first.line - 1]


def test_two_files_of_one_key(tmp_path):
    """The one that was saved last counts, whatever the files are called."""
    (tmp_path / "both").mkdir()
    for folder, value in [("z", 1.0), ("a", 2.0)]:
        with DebugContext(TensorSaver(tmp_path / folder)):
            spy_save("x", torch.tensor(value))
        (path,) = (tmp_path / folder).iterdir()
        path.rename(tmp_path / "both" / f"{folder}.pt")
    found = spy_load(tmp_path / "both")
    assert [e.key for e in found.entries()] == [("", "manual", "x", 0)] * 2
    assert found["", "manual", "x", 0].item() == 2.0
    assert [x.item() for x in found.tensors()] == [1.0, 2.0]


def test_norms_alone(tmp_path):
    saver = TensorSaver(tmp_path)
    saver.save("x", torch.full((3, 4), 2.0), norm_only=True)
    assert spy_load(tmp_path)["", "", "x", 0].tolist() == [4, 4, 4]


# Without torch

PROGRAM = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None  # cannot be imported
from monitorch.spy import spy_load
for entry in spy_load(sys.argv[1]).entries():
    x = entry.load()
    print(entry.name, type(x).__name__, getattr(x, "dtype", None) or x.format, x.shape, x.tolist())
assert not {blocked!r} or sys.modules.get("torch") is None
assert "torch" not in sys.modules or sys.modules["torch"] is None
"""


def lines_without(blocked, folder):
    run = recording.run_python("-c", textwrap.dedent(PROGRAM).format(blocked=blocked), folder)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def save_for_others(folder):
    x = torch.tensor([[1.5, -2.0], [0.25, 4.0]])
    torch.save(x.t(), folder / "a.pt")
    torch.save(x.bfloat16(), folder / "b.pt")
    torch.save(x.to(torch.float8_e5m2), folder / "c.pt")
    torch.save(torch.complex(x[0], x[1]).conj(), folder / "d.pt")
    torch.save(torch.tensor(True), folder / "e.pt")
    torch.save(torch.zeros(0, 3, dtype=torch.int16), folder / "f.pt")
    torch.save(x.half(), folder / "g.pt")
    torch.save(torch.complex(x[0], x[1]).conj().imag, folder / "h.pt")


def test_numpy(tmp_path):
    pytest.importorskip("numpy")
    save_for_others(tmp_path)
    assert lines_without((), tmp_path) == [
        "a ndarray float32 (2, 2) [[1.5, 0.25], [-2.0, 4.0]]",
        "b ndarray float32 (2, 2) [[1.5, -2.0], [0.25, 4.0]]",
        "c ndarray float32 (2, 2) [[1.5, -2.0], [0.25, 4.0]]",
        "d ndarray complex64 (2,) [(1.5-0.25j), (-2-4j)]",
        "e ndarray bool () True",
        "f ndarray int16 (0, 3) []",
        "g ndarray float16 (2, 2) [[1.5, -2.0], [0.25, 4.0]]",
        "h ndarray float32 (2,) [-0.25, -4.0]",
    ]


def test_neither_torch_nor_numpy(tmp_path):
    save_for_others(tmp_path)
    assert lines_without(("torch", "numpy"), tmp_path) == [
        "a memoryview f (2, 2) [[1.5, 0.25], [-2.0, 4.0]]",
        "b memoryview f (2, 2) [[1.5, -2.0], [0.25, 4.0]]",
        "c memoryview f (2, 2) [[1.5, -2.0], [0.25, 4.0]]",
        "d memoryview f (2, 2) [[1.5, -0.25], [-2.0, -4.0]]",
        "e memoryview ? () True",
        "f memoryview h (0,) []",
        "g memoryview f (2, 2) [[1.5, -2.0], [0.25, 4.0]]",
        "h memoryview f (2,) [-0.25, -4.0]",
    ]


# Loading


def test_loaded_tensors_are_the_programs_own(tmp_path):
    torch.save(torch.zeros(3), tmp_path / "x.pt")
    found = spy_load(tmp_path)
    one = found["", "", "x", 0]
    one += 1
    one.requires_grad_()
    assert found["", "", "x", 0].tolist() == [0, 0, 0]
    del found
    assert one.sum().item() == 3


def test_a_file_changed_meanwhile(tmp_path):
    torch.save(torch.zeros(3), tmp_path / "x.pt")
    torch.save(torch.zeros(3), tmp_path / "y.pt")
    found = spy_load(tmp_path)
    torch.save(torch.zeros(4), tmp_path / "x.pt")
    (tmp_path / "y.pt").unlink()
    with pytest.raises(OSError, match="x.pt has changed"):
        found["", "", "x", 0]
    with pytest.raises(OSError, match="y.pt"):
        found["", "", "y", 0]


def test_threads(tmp_path):
    save_some(tmp_path, format="mtrace")
    found = spy_load(tmp_path)
    wrong = []

    def read():
        for _ in range(20):
            for call in range(12):
                if found["step1"]["manual"]["q"][call].tolist() != [1, call]:
                    wrong.append(call)

    threads.run(*[read] * 4)
    assert wrong == []


def test_damage_is_warned_of_once(tmp_path):
    torch.save(torch.ones(2), tmp_path / "good.pt")
    for name in ("a.pt", "b.safetensors", "c.mtrace"):
        (tmp_path / name).write_bytes(b"not what it should be")
    (tmp_path / "notes.txt").write_text("not ours")
    (tmp_path / "folder.pt").mkdir()
    with pytest.warns(RuntimeWarning, match=r"a\.pt: .* \(and 3 more, see .damage\)") as told:
        found = spy_load(tmp_path)
    assert len(told) == 1 and told[0].filename == __file__
    assert sorted(text.split(":")[0] for text in found.damage) == [
        "a.pt", "b.safetensors", "c.mtrace", "folder.pt",
    ]  # fmt: skip
    assert found["", "", "good", 0].tolist() == [1, 1]


def test_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        spy_load(tmp_path / "none")
    assert len(spy_load(tmp_path)) == 0
    with pytest.raises(ValueError):
        spy_load("nul\0byte")


def test_whole_values_of_a_recording(tmp_path):
    """What `values=` keeps of any program, counted by module and name."""
    program = """
    import torch
    def double(x):
        y = x * 2
        return y
    double(torch.arange(6.0).reshape(2, 3))
    double(torch.tensor(4, dtype=torch.int16))
    """
    run = recording.run_program(textwrap.dedent(program), tmp_path, values="y")
    assert run.returncode == 0, run.stderr
    found = spy_load(tmp_path / "run.mtrace")
    assert [e.key for e in found.entries()] == [("", "", "y", 0), ("", "", "y", 1)]
    assert found["", "", "y", 0].tolist() == [[0, 2, 4], [6, 8, 10]]
    assert found["", "", "y", 1].item() == 8 and found["", "", "y", 1].dtype == torch.int16
    assert found.entries()[0].function == "double" and found.entries()[0].line == 4


def test_what_a_killed_process_had_saved(tmp_path):
    program = """
    import os, signal, torch
    from monitorch.spy import DebugContext, TensorSaver, spy_save
    with DebugContext(TensorSaver("saved", format="mtrace"), prefix="p"):
        for i in range(5):
            spy_save("x", torch.full((1000,), float(i)))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    run = recording.run_python(
        "-c", textwrap.dedent(program), python=warm.python(), folder=tmp_path
    )
    assert run.returncode == -9, run.stderr
    found = spy_load(tmp_path / "saved")["p"]["manual"]["x"]
    assert [found[call][999].item() for call in found] == [0, 1, 2, 3, 4]
