"""Expanded tensors: what stands in memory once is measured, hashed and stored once."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.support import paths, recording, warm

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

# Above 1 MiB, so that elements are read once; small enough for torch to hold them all.
SHAPES = {
    "one": "torch.full((1,), 3.0).expand(400_000)",
    "rows": "torch.arange(1000.0).expand(700, 1000)",
    "columns": "torch.arange(1000.0)[:, None].expand(1000, 700)",
    "between": "torch.arange(600.0).view(20, 1, 30).expand(20, 900, 30)",
    "both": "torch.randn(7, 1, 1, 11).expand(3, 7, 50, 40, 11)",
    "odd": "torch.arange(777.0).expand(1001, 777)",
    "nan": "torch.tensor([1.0, float('nan'), 0.0, float('inf'), -float('inf')]).expand(90_000, 5)",
    "int64": "torch.tensor([[2**62], [-5], [7]]).expand(3, 80_000)",
    "bool": "torch.tensor([True, False]).expand(800_000, 2)",
    "half": "torch.randn(33).half().expand(40_000, 33)",
    "complex": "torch.randn(31, dtype=torch.complex64).expand(9_000, 31)",
    "conjugated": "torch.randn(31, dtype=torch.complex64).conj().expand(9_000, 31)",
    "pieces": "torch.randn(262_144 + 5).expand(3, 262_144 + 5)",
}


def run(tmp_path, source):
    done = subprocess.run(
        [
            warm.python(),
            "-c",
            "import torch, monitorch\nfrom monitorch import _recorder\n" + textwrap.dedent(source),
        ],
        cwd=tmp_path,
        env=recording.environment("off"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_statistics_are_torchs_and_hashes_those_of_a_copy(tmp_path):
    run(
        tmp_path,
        f"""
        for name, make in {SHAPES!r}.items():
            x = eval(make)
            here, copy = _recorder.measure(x), _recorder.measure(x.clone(memory_format=torch.contiguous_format).resolve_conj())
            assert x.untyped_storage().nbytes() < x.numel() * x.element_size() / 2, name
            for key in ("hash", "count", "nan", "posinf", "neginf", "zeros", "sample"):
                assert repr(here[key]) == repr(copy[key]), (name, key, here[key], copy[key])
            # The size of a complex number may be off by its last bit: kernels add its squares in their own way.
            bound = 1e-15 if x.is_complex() else 0
            for key in ("min", "max"):
                assert abs(here[key] - copy[key]) <= bound * abs(copy[key]), (name, key, here[key], copy[key])
            values = (x.abs() if x.is_complex() else x).double()
            values = values[values.isfinite()]
            for key, want in (("mean", values.mean()), ("std", values.std())):
                assert abs(here[key] - want.item()) <= 1e-6 * max(1e-9, abs(want.item())), (name, key)
        """,
    )


def test_what_is_far_larger_than_memory_takes_no_time(tmp_path):
    out = run(
        tmp_path,
        """
        import time
        t = time.perf_counter()
        for x in (torch.zeros(1).expand(2**40), torch.arange(4.0).expand(2**20, 2**18, 4), torch.ones(1, 3).expand(2**45, 3)):
            m = _recorder.measure(x)
            assert m["count"] == x.numel() and "mean" in m, m
        assert "hash" in _recorder.measure(torch.zeros(1).expand(2**40))
        print(time.perf_counter() - t)
        """,
    )
    assert float(out) < 5


def test_whole_values_are_kept_once_and_loaded_as_they_were(tmp_path):
    """A trace with values=, and a .pt file: both hold what memory held."""
    out = run(
        tmp_path,
        f"""
        import os
        from monitorch.spy import TensorSaver, spy_load
        made = {{name: eval(make) for name, make in {SHAPES!r}.items()}}
        for format in ("pt", "mtrace"):
            folder = "saved_" + format
            saver = TensorSaver(folder, format=format)
            for name, x in made.items():
                saver.save(name, x)
            saver.save("huge", torch.zeros(1).expand(2**40))
            saver.close()
            size = sum(os.path.getsize(os.path.join(at, f)) for at, _, fs in os.walk(folder) for f in fs)
            back = {{entry.name: entry for entry in spy_load(folder).entries()}}
            for name, x in made.items():
                got = back[name].load()
                assert got.shape == x.shape and torch.equal(got.nan_to_num(), x.nan_to_num()), (format, name)
            assert back["huge"].shape == (2**40,)
            if format == "pt":
                for at, _, fs in os.walk(folder):
                    for f in fs:
                        if f.endswith(".pt") and "huge" in f:
                            assert torch.load(os.path.join(at, f), weights_only=True).stride() == (0,)
            print(size < 20_000_000)
        """,
    )
    assert out == "True\nTrue\n"


def test_safetensors_refuses_what_would_fill_the_disk(tmp_path):
    run(
        tmp_path,
        """
        from monitorch.spy import TensorSaver
        saver = TensorSaver("saved", format="safetensors")
        try:
            saver.save("huge", torch.zeros(1).expand(2**40))
        except TypeError as error:
            assert "expanded" in str(error)
        else:
            raise SystemExit("saved")
        """,
    )


def interrupt_after(seconds, tmp_path):
    """The notes of the events of a program that was interrupted so long after it began to measure
    windows over a tensor: each element is in many of them."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import torch
            def f():
                a = torch.ones((1 << 26) + 2048)
                print("ready", flush=True)
                for i in range(100):
                    x = a.as_strided((1 << 22, 1 << 10), (16, 1))
            f()
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "monitorch", "run", "-o", str(tmp_path / "t.mtrace"), str(program)],
        env=recording.environment("off"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    started = time.perf_counter()
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert "KeyboardInterrupt" in err and time.perf_counter() - started < 4, err
    lines = recording.show(tmp_path / "t.mtrace").stdout.splitlines()
    return [json.loads(line).get("note") for line in lines]


def test_measuring_is_interrupted(tmp_path):
    """The signal may come between two measurements, but hardly each time."""
    assert any(
        "interrupted, not measured" in interrupt_after(seconds, tmp_path)
        for seconds in (0.5, 0.8, 1.1, 1.4)
    )
