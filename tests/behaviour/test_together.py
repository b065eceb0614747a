"""Every pair and every triple of a recording, a picture, a saver, a monitor, a tracer and a tracker, begun and
ended in different orders on one program: each finds what it finds alone."""

import json

import pytest

from tests.support import paths, recording

pytest.importorskip("torch")

CHILD = paths.ROOT / "tests/behaviour/together_child.py"
INSTRUMENTED = ["-m", "monitorch", "run", "-q", "--no-record", "--include", "together_models"]
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "program, is_instrumented, least",
    [
        ("Training", True, 140),
        ("Branches", True, 140),
        pytest.param("Recurrent", True, 140, marks=SLOW),
        ("Recurrent", False, 80),
        pytest.param("Training", False, 80, marks=SLOW),
        pytest.param("Branches", False, 80, marks=SLOW),
    ],
)
def test_each_as_alone(tmp_path, program, is_instrumented, least):
    environment = {**recording.environment("off"), "LTAG": "x"}
    words = [*INSTRUMENTED, "--exclude", "*together_child*"] if is_instrumented else []
    done = recording.run_python(*words, str(CHILD), program, folder=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["count"] >= least
    assert all(found["alone"].values()), {name: len(rows) for name, rows in found["alone"].items()}
    for begun, must_nest, name, alone, together in found["wrong"]:
        assert together == alone, f"{name}, begun as {begun}, nested: {must_nest}"
