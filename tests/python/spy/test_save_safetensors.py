"""_recorder.SafetensorsWriter: the library safetensors reads what was added."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.support import recording, threads

torch = pytest.importorskip("torch")
_recorder = pytest.importorskip("monitorch._recorder", reason="not built (make)")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]


def key(name: str, call: int = 0, module: str = "") -> tuple[str, str, str, int]:
    return ("step0", module, name, call)


def read_header(path: Any) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    assert size % 8 == 0
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def check_places(header: dict[str, Any], values: bytes) -> None:
    """The values fill the file without gaps, each where its elements may lie."""
    sizes = {"F64": 8, "I64": 8, "C64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2}
    end = 0
    for entry in sorted(header.values(), key=lambda entry: entry["data_offsets"]):
        first, last = entry["data_offsets"]
        assert first == end
        assert first % sizes.get(entry["dtype"], 1) == 0
        end = last
    assert end == len(values)


def make_tensors() -> dict[str, Any]:
    return {
        "odd": torch.arange(7, dtype=torch.int8),
        "flag": torch.tensor([True, False, True]),
        "matrix": torch.randn(3, 4),
        "double": torch.randn(5, dtype=torch.float64),
        "none": torch.zeros(0, 3),
        "number": torch.tensor(2.5),
        "strided": torch.randn(40, 30).t()[:, 1:7],
        "expanded": torch.randn(3, 1).expand(3, 100),
        "conj": torch.randn(3, dtype=torch.complex64).conj(),
        "half": torch.randn(5).half(),
        "brain": torch.randn(5).bfloat16(),
        "float8": torch.randn(5).to(torch.float8_e4m3fn),
        "uint16": torch.arange(9).to(torch.uint16),
        "sparse": torch.eye(3).to_sparse(),
        "Parameter": torch.nn.Parameter(torch.randn(2)),
    }


def test_the_library_reads_it(tmp_path: Any) -> None:
    safetensors = pytest.importorskip("safetensors")
    library = pytest.importorskip("safetensors.torch")
    path = tmp_path / "a.safetensors"
    tensors = make_tensors()
    writer = _recorder.SafetensorsWriter(path)
    for name, tensor in tensors.items():
        writer.add(tensor, key(name, module="encoder"))
    assert writer.count == len(tensors)
    assert not path.exists()
    writer.finish()
    assert os.listdir(tmp_path) == ["a.safetensors"]
    loaded = library.load_file(path)
    assert set(loaded) == {f"encoder.{name}.call0" for name in tensors}
    for name, tensor in tensors.items():
        shown = tensor.detach().to_dense() if name == "sparse" else tensor.detach().resolve_conj()
        got = loaded[f"encoder.{name}.call0"]
        assert got.dtype == shown.dtype and got.shape == shown.shape
        flat, wanted = (one.contiguous().reshape(-1).view(torch.uint8) for one in (got, shown))
        assert torch.equal(flat, wanted)
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    line = json.loads(metadata["encoder.strided.call0"])
    assert line["prefix"] == "step0" and line["module"] == "encoder"
    assert line["name"] == "strided" and line["file"] == __file__
    orders = [json.loads(metadata[f"encoder.{name}.call0"])["order"] for name in tensors]
    assert orders == sorted(orders)


def test_places(tmp_path: Any) -> None:
    path = tmp_path / "a.safetensors"
    writer = _recorder.SafetensorsWriter(path)
    for name, tensor in make_tensors().items():
        writer.add(tensor, key(name))
    writer.finish()
    header, values = read_header(path)
    assert header.pop("__metadata__")["format"] == "pt"
    check_places(header, values)


def test_strange_names(tmp_path: Any) -> None:
    path = tmp_path / "a.safetensors"
    names = ['"', "\\", "\n\0\x1b", "\u6f22\u5b57", "a" * 5000, "q\udc80", "__metadata__", ""]
    writer = _recorder.SafetensorsWriter(path)
    for i, name in enumerate(names):
        writer.add(torch.full((2,), float(i)), key(name))
    writer.finish()
    header, values = read_header(path)
    del header["__metadata__"]
    assert set(header) >= {f"{name}.call0" for name in names[:5]}
    assert len(header) == len(names)
    check_places(header, values)


def test_the_last_of_a_name_is_kept(tmp_path: Any) -> None:
    path = tmp_path / "a.safetensors"
    writer = _recorder.SafetensorsWriter(path)
    for i in range(5):
        writer.add(torch.full((2 + i,), i), key("q"))
        writer.add(torch.full((1,), i), key("q", call=1 + i))
    writer.finish()
    header, values = read_header(path)
    del header["__metadata__"]
    assert len(header) == 6
    assert header["q.call0"]["shape"] == [6]
    check_places(header, values)


def test_nothing_is_added(tmp_path: Any) -> None:
    writer = _recorder.SafetensorsWriter(tmp_path / "a.safetensors")
    assert writer.count == 0
    writer.finish()
    writer.finish()
    assert not os.listdir(tmp_path)
    with pytest.raises(ValueError, match="finished"):
        writer.add(torch.ones(1), key("q"))


@pytest.mark.parametrize("how", ["abandon", "drop"])
def test_abandoned(tmp_path: Any, how: str) -> None:
    writer = _recorder.SafetensorsWriter(tmp_path / "a.safetensors")
    writer.add(torch.ones(1), key("q"))
    if how == "abandon":
        writer.abandon()
    del writer
    assert not os.listdir(tmp_path)


def test_what_the_format_has_not(tmp_path: Any) -> None:
    writer = _recorder.SafetensorsWriter(tmp_path / "a.safetensors")
    with pytest.raises(TypeError, match="complex128"):
        writer.add(torch.ones(1, dtype=torch.complex128), key("q"))
    with pytest.raises(TypeError):
        writer.add("text", key("q"))
    writer.add(torch.ones(1, 3, dtype=torch.complex128), key("q"), norm_only=True)
    writer.finish()
    header, _ = read_header(tmp_path / "a.safetensors")
    assert header["q.call0"]["dtype"] == "F64"


def test_a_folder_that_cannot_be(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    writer = _recorder.SafetensorsWriter(tmp_path / "file" / "a.safetensors")
    with pytest.raises(NotADirectoryError, match=r"step0\.q"):
        writer.add(torch.ones(1), key("q"))


FULL = """
import sys
import torch
from monitorch import _recorder

writer = _recorder.SafetensorsWriter("full/a.safetensors")
try:
    for i in range(1000):
        writer.add(torch.full((8192,), float(i)), ("", "", "q", i))
except OSError as error:
    assert "No space left on device" in str(error), error
    writer.add(torch.ones(3), ("", "", "small", 0))
writer.finish()
sys.stdout.buffer.write(open("full/a.safetensors", "rb").read())
"""


def test_a_full_disk_keeps_what_was_added(tmp_path: Any) -> None:
    (tmp_path / "full").mkdir()
    mount = ["unshare", "-m", "sh", "-c"]
    command = 'mount -t tmpfs -o size=1060k none full && exec "$@"'
    try:
        subprocess.run([*mount, command, "sh", "true"], cwd=tmp_path, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system of its own size can be mounted")
    run = subprocess.run(
        [*mount, command, "sh", sys.executable, "-c", FULL],
        cwd=tmp_path,
        env=recording.environment("off"),
        capture_output=True,
    )
    assert run.returncode == 0, run.stderr.decode()
    (tmp_path / "a.safetensors").write_bytes(run.stdout)
    header, values = read_header(tmp_path / "a.safetensors")
    del header["__metadata__"]
    check_places(header, values)
    assert len(header) > 25 and "small.call0" in header
    for i in range(len(header) - 1):
        first, last = header[f"q.call{i}"]["data_offsets"]
        got = torch.frombuffer(bytearray(values[first:last]), dtype=torch.float32)
        assert len(got) == 8192 and (got == i).all()


def test_many_threads(tmp_path: Any) -> None:
    path = tmp_path / "a.safetensors"
    writer = _recorder.SafetensorsWriter(path)

    def work(number: int) -> None:
        for i in range(50):
            writer.add(torch.full((1000,), number * 50 + i), key(f"q{number}", i))

    threads.run_for(range(6), work)
    writer.finish()
    header, values = read_header(path)
    del header["__metadata__"]
    assert len(header) == 300
    check_places(header, values)
    for name, entry in header.items():
        number, call = name.removeprefix("q").split(".call")
        first, last = entry["data_offsets"]
        got = torch.frombuffer(bytearray(values[first:last]), dtype=torch.int64)
        assert (got == int(number) * 50 + int(call)).all()


def test_a_thread_finishes_while_others_add(tmp_path: Any) -> None:
    for _ in range(20):
        writer = _recorder.SafetensorsWriter(tmp_path / "a.safetensors")
        refused: list[ValueError] = []

        def work() -> None:
            try:
                for i in range(1000):
                    writer.add(torch.ones(5000), key("q", i))
            except ValueError as error:
                refused.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        writer.finish()
        thread.join()
        assert len(refused) == 1 or writer.count == 1000


def test_a_forked_process_leaves_it_alone(tmp_path: Any) -> None:
    path = tmp_path / "a.safetensors"
    writer = _recorder.SafetensorsWriter(path)
    writer.add(torch.ones(3), key("q"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            writer.add(torch.zeros(3), key("q"))
        except ValueError:
            with pytest.raises(ValueError):
                writer.abandon()
            with pytest.raises(ValueError):
                writer.finish()
            del writer
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    writer.add(torch.ones(3), key("k"))
    writer.finish()
    header, _ = read_header(path)
    assert set(header) == {"__metadata__", "q.call0", "k.call0"}
