"""The files of _recorder.save_pt: their archive, files that are there, disks that are full."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import threading
import urllib.parse
import zipfile
from typing import Any

import pytest
from hypothesis import given, strategies

from tests.support import threads

torch = pytest.importorskip("torch")
_recorder = pytest.importorskip("monitorch._recorder", reason="not built (make)")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # forks while threads run
]

KEY = ("step0", "encoder.attn", "q", 3)


def save(path: Any, tensor: Any, **words: Any) -> str:
    return _recorder.save_pt(path, tensor, KEY, **{"may_replace": True, **words})


def load(path: Any) -> Any:
    return torch.load(path, weights_only=True)


def line_in(path: Any) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("archive/monitorch.json"))


# ---- the archive ----


def test_the_archive(tmp_path: Any) -> None:
    tensor = torch.randn(100, 100)
    save(tmp_path / "a.pt", tensor)
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        assert archive.testzip() is None
        assert all(one.compress_type == zipfile.ZIP_STORED for one in archive.infolist())
        values = archive.getinfo("archive/data/0")
    with open(tmp_path / "a.pt", "rb") as file:
        file.seek(values.header_offset + 26)
        name_size = int.from_bytes(file.read(2), "little")
        extra_size = int.from_bytes(file.read(2), "little")
        start = file.tell() + name_size + extra_size
        file.seek(start)
        assert file.read(values.file_size) == tensor.numpy().tobytes()
    assert start % 64 == 0


def test_the_line(tmp_path: Any) -> None:
    save(tmp_path / "a.pt", torch.ones(1), place=("model.py", 7, "Model.forward"))
    line = line_in(tmp_path / "a.pt")
    order = line.pop("order")
    assert line == {
        "prefix": "step0",
        "module": "encoder.attn",
        "name": "q",
        "call": 3,
        "file": "model.py",
        "line": 7,
        "function": "Model.forward",
    }
    save(tmp_path / "b.pt", torch.ones(1))
    assert line_in(tmp_path / "b.pt")["order"] == order + 1


def test_the_place_is_the_callers(tmp_path: Any) -> None:
    save(tmp_path / "a.pt", torch.ones(1))
    line = line_in(tmp_path / "a.pt")
    assert line["file"] == __file__
    assert line["line"] == save.__code__.co_firstlineno + 1
    assert line["function"] == "save"


def test_the_place_is_outside_of_the_package(tmp_path: Any) -> None:
    names = {"__name__": "monitorch.spy.example", "save": _recorder.save_pt}
    exec("def inner(*args): save(*args, may_replace=True)", names)
    names["inner"](tmp_path / "a.pt", torch.ones(1), KEY)
    line = line_in(tmp_path / "a.pt")
    assert line["file"] == __file__
    assert line["function"].endswith("test_the_place_is_outside_of_the_package")


def test_torch_maps_it(tmp_path: Any) -> None:
    tensor = torch.randn(64, 64)
    save(tmp_path / "a.pt", tensor)
    mapped = torch.load(tmp_path / "a.pt", weights_only=True, mmap=True)
    assert torch.equal(mapped, tensor)


@pytest.mark.slow
def test_more_than_4_gib(tmp_path: Any) -> None:
    count = 2**32 + 5
    save(tmp_path / "a.pt", torch.full((count,), 7, dtype=torch.uint8))
    mapped = torch.load(tmp_path / "a.pt", weights_only=True, mmap=True)
    assert mapped.shape == (count,)
    assert mapped[0] == 7 and mapped[-1] == 7
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        assert archive.getinfo("archive/data/0").file_size == count
        assert archive.testzip() is None


# ---- files that are there ----


def test_replacing(tmp_path: Any) -> None:
    path = tmp_path / "new" / "folder" / "a.pt"
    assert save(path, torch.ones(1), may_replace=False) == "written"
    assert save(path, torch.ones(2), may_replace=False) == "exists"
    assert load(path).shape == (1,)
    assert save(path, torch.ones(2)) == "replaced"
    assert load(path).shape == (2,)
    assert os.listdir(path.parent) == ["a.pt"]


def test_only_one_of_many_writes_a_new_file(tmp_path: Any) -> None:
    results: list[str] = []
    barrier = threading.Barrier(8)

    def work(number: float) -> None:
        for i in range(20):
            barrier.wait()
            tensor = torch.full((50_000,), number)
            results.append(save(tmp_path / f"{i}.pt", tensor, may_replace=False))

    threads.run_for(map(float, range(8)), work)
    assert results.count("written") == 20 and results.count("exists") == 140
    assert len(os.listdir(tmp_path)) == 20
    for i in range(20):
        assert len(load(tmp_path / f"{i}.pt").unique()) == 1


def test_a_tensor_may_lose_its_memory_meanwhile(tmp_path: Any) -> None:
    """Another thread gives the tensor other memory while it is written."""
    tensor = torch.ones(2_000_000)
    is_done = threading.Event()

    def work() -> None:
        while not is_done.is_set():
            tensor.data = torch.ones(2_000_000)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            save(tmp_path / "a.pt", tensor)
            assert (load(tmp_path / "a.pt") == 1).all()
    finally:
        is_done.set()
        thread.join()


def test_processes_forked_while_threads_save(tmp_path: Any) -> None:
    is_done = threading.Event()

    def work() -> None:
        while not is_done.is_set():
            save(tmp_path / "thread.pt", torch.ones(10))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for i in range(40):
            child = os.fork()
            if child == 0:
                signal.alarm(120)  # a child that waits for ever is ended
                code = 1
                try:
                    save(tmp_path / f"{i}.pt", torch.ones(3))
                    code = 0
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        is_done.set()
        for thread in threads:
            thread.join()
    assert len(os.listdir(tmp_path)) == 41


# ---- what fails ----


def test_errors_name_the_tensor(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "a.pt"
    text = "cannot save step0.encoder.attn.q (call 3)"
    with pytest.raises(NotADirectoryError, match=re.escape(text)) as raised:
        save(path, torch.ones(1))
    assert raised.value.filename == str(path)
    with pytest.raises(IsADirectoryError, match=re.escape(text)):
        save(tmp_path, torch.ones(1))
    with pytest.raises(OSError, match="No space left on device"):
        save("/dev/full", torch.ones(1))


def test_a_disk_gets_full_within(tmp_path: Any) -> None:
    save(tmp_path / "a.pt", torch.ones(1))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"encoder\.attn\.q"):
            save(tmp_path / "a.pt", torch.ones(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == ["a.pt"]
    assert load(tmp_path / "a.pt").shape == (1,)


ONE = torch.ones(1)
WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    (("a.pt", ONE, KEY), {}),
    (("a.pt", ONE, KEY, True), {}),
    ((3, ONE, KEY), {"may_replace": True}),
    (("a.pt", ONE, ("a", "b", "c")), {"may_replace": True}),
    (("a.pt", ONE, ("a", "b", 3, 4)), {"may_replace": True}),
    (("a.pt", ONE, ("a", "b", "c", "d")), {"may_replace": True}),
    (("a.pt", ONE, list(KEY)), {"may_replace": True}),
    (("a.pt", ONE, KEY), {"may_replace": True, "place": "here"}),
    (("a.pt", ONE, KEY), {"may_replace": True, "place": ("a", "b", "c")}),
    (("a.pt", ONE, KEY), {"may_replace": True, "place": ("a", 3, None)}),
]


@pytest.mark.parametrize("args, words", WRONG)
def test_wrong_arguments(tmp_path: Any, monkeypatch: Any, args: Any, words: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError):
        _recorder.save_pt(*args, **words)
    assert not os.listdir(tmp_path)


def test_a_negative_call(tmp_path: Any) -> None:
    with pytest.raises(OverflowError):
        _recorder.save_pt(tmp_path / "a.pt", ONE, ("", "", "q", -1), may_replace=True)
    with pytest.raises(ValueError):
        _recorder.save_pt(f"{tmp_path}/a\0.pt", ONE, KEY, may_replace=True)


# ---- names ----


@given(strategies.text(strategies.characters(exclude_categories=()), max_size=60))
def test_stems_can_be_read_back(name: str) -> None:
    stem = _recorder.saved_file_stem(name)
    assert re.fullmatch(r"([\w.\-\[\]()+=@,]|%[0-9A-F]{2})*(~[0-9a-f]{16})?", stem, re.ASCII)
    assert not stem.startswith(".") and len(stem) <= 200
    if "~" not in stem:
        read = urllib.parse.unquote_to_bytes(stem).decode("utf-8", "surrogatepass")
        assert read == name


@given(
    strategies.text("ab/\u00e9", min_size=200, max_size=300),
    strategies.text("ab/\u00e9", min_size=200, max_size=300),
)
def test_long_names_stay_apart(one: str, other: str) -> None:
    same = _recorder.saved_file_stem(one) == _recorder.saved_file_stem(other)
    assert same == (one == other)


def test_long_and_strange_names_are_files(tmp_path: Any) -> None:
    for name in ("x" * 1000, "\u6f22" * 300, "a/b", "..", "q\udc80", "\n", "a\0b"):
        stem = _recorder.saved_file_stem(name)
        path = tmp_path / f"{stem}.call123456.pt"
        _recorder.save_pt(path, ONE, ("", "", name, 123456), may_replace=False)
        assert torch.equal(load(path), ONE)
        assert line_in(path)["name"] == name
    assert len(os.listdir(tmp_path)) == 7
