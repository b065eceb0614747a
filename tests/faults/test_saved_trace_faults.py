"""Memory fails at every step in turn while tensors are saved into a trace, and while calls of
modules are told by hooks: an exception at most, a trace that can be read, and the model's result."""

from __future__ import annotations

import json
import textwrap

import pytest

from tests.support import recording, warm

pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

pytestmark = pytest.mark.torch

# Forks a child for each allocation that is to fail, which is read when the recorder is loaded.
CHILD = """
import json, os, sys, torch
folder, sticky = sys.argv[1], sys.argv[2]

{work}

def run(number):
    os.environ["MONITORCH_TEST_FAIL_ALLOCATION"] = f"{{number}}{{sticky}}"
    out = os.open(f"{{folder}}/{{number}}.err", os.O_WRONLY | os.O_CREAT)
    os.dup2(out, 2)
    work(f"{{folder}}/{{number}}.mtrace")

ended = {{}}
for number in [*range(60), *range(60, 600, 29)]:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run(number)
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(code)
    ended[number] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(ended))
"""

SAVE = """
def work(path):
    count = 0
    try:
        from monitorch import _recorder

        writer = _recorder.TraceWriter(path)
        for call in range(12):
            for prefix in ("a", "b"):
                tensor = torch.full((30, 30), float(call))
                try:
                    writer.add(tensor.t(), (prefix, "m", f"x{call}", 0), place=("f.py", call, "f"))
                    count += 1
                except (MemoryError, OSError):
                    pass
        assert writer.count == count
        writer.finish()
    except (MemoryError, OSError):
        pass
"""

CALL = """
def work(path):
    import monitorch
    from monitorch._record import observe as _observe
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    x = torch.ones(2, 4)
    wanted = model(x)
    recording = monitorch.record(path)
    recording.is_quiet = True
    try:
        recording.start()
        for name, module in model.named_modules():
            _observe.observe(module, name or "root")
    except (MemoryError, OSError):
        return
    for _ in range(10):
        assert torch.equal(model(x), wanted)
    recording.stop()
"""


@pytest.mark.parametrize("sticky", ["", "+"], ids=["once", "from-there-on"])
@pytest.mark.parametrize("work", [SAVE, CALL], ids=["save", "call"])
def test_every_allocation_fails_in_turn(tmp_path, work, sticky):
    program = textwrap.dedent(CHILD).format(work=work)
    done = recording.run_python("-c", program, tmp_path, sticky, python=warm.python())
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout)
    for number, code in ended.items():
        assert code == 0, f"{number}: {code}: {(tmp_path / f'{number}.err').read_text()}"
    traces = sorted(tmp_path.glob("*.mtrace"))
    assert len(traces) > 20
    for path in traces[::5]:
        shown = recording.show(path)
        assert shown.returncode in (0, 1), f"{path}: {shown.stderr}"
