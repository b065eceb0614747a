"""The examples of Tensor Tracker's document, word for word apart from the import."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Callable

import pytest

from tests.python.tracker.tree_log import Ran
from tests.support import recording

Run = Callable[..., Ran]
pytestmark = pytest.mark.torch

AUTO_DIFF = """
from monitorch.tracker import auto_diff  

@auto_diff  
def process_data(inputs):  
    # ... your tensor operations ...  
    return outputs  
"""

VAR_TRACKER = """
from monitorch.tracker import var_tracker  

@var_tracker('video')  
def transform_video(video_tensor):  
    # ... video processing steps ...  
    return transformed_video  
"""

LOG_TO_FILE = """
logger.addHandler(h4logger())

log2file(f"xx is {xxx}")
"""

ACCURACY_MONITOR = """
def check_hook(module, input, output):
    from monitorch.tracker import _log_change
    _log_change(f"{module.__class__.__name__}", "input", input, "", 0)
    _log_change(f"{module.__class__.__name__}", "output", output, "", 0)
        
print(model_executable)
for name, layer in model_executable.named_modules():
    layer.register_forward_hook(check_hook)
"""


def test_auto_diff(run: Run) -> None:
    program = f"import torch\noutputs = torch.ones(3, 73, 384, 544)\n{AUTO_DIFF}"
    ran = run(program + "assert process_data([torch.zeros(2), 1]) is outputs\n")
    log = ran.log
    assert log.entries() == ["process_data"]
    assert [line.name for line in log.of_kind("input")][0] == "inputs"
    assert log.of_kind("input")[0].text.startswith("├─ input [Var] inputs@0 len(value): 2")
    (output,) = log.of_kind("output")
    assert output.text.startswith("│   └─ output shape=torch.Size([3, 73, 384, 544])")
    assert re.fullmatch(r"│   └─ elapsed \d+\.\d{4}s", log[-1].text)


def test_auto_diff_in_chinese(run: Run) -> None:
    program = f"import torch\noutputs = torch.ones(3, 73, 384, 544)\n{AUTO_DIFF}"
    ran = run(program + "process_data([1, 2, 3, 4])\n", LC_ALL="zh_CN.UTF-8")
    lines = ran.text_of_log().splitlines()
    defined = 1 + ran.text.splitlines().index("def process_data(inputs):  ")
    entry = rf"┌── \[program\.py:{defined}\] 函数 \[process_data\] 被调用于 <module>:\d+ \(.*\)"
    assert re.fullmatch(entry, lines[0]) or lines[0].startswith(
        f"┌── [program.py:{defined - 1}] 函数 [process_data] 被调用于 "
    )
    assert lines[1].startswith("├─ 输入 [Var] inputs@0 len(value): 4")
    assert any(line.startswith("│   └─ 输出 shape=torch.Size([3, 73, 384, 544])") for line in lines)
    assert re.fullmatch(r"│   └─ 耗时 \d+\.\d{4}s", lines[-1])


# Steps in the place of the comment, as the sample under it in the document shows them.
STEPS = """
    video = numpy.zeros((73, 64, 96, 3), dtype=numpy.uint8)  # 572
    video = torch.from_numpy(video)  # 574
    video = video.permute(0, 3, 1, 2)  # 575
    transformed_video = video
"""


def test_var_tracker(run: Run) -> None:
    text = VAR_TRACKER.replace("    # ... video processing steps ...  \n", STEPS.lstrip("\n"))
    assert text != VAR_TRACKER
    ran = run(f"import numpy, torch\n{text}\ntransform_video(222)\n")
    lines = ran.text_of_log().splitlines()
    assert lines[1].startswith("├─ input [Var] video_tensor@0 value: 222")
    wanted = [
        ("572", "shape=(73, 64, 96, 3) | dtype=uint8"),
        ("574", "shape=torch.Size([73, 64, 96, 3]) | dtype=torch.uint8"),
        ("575", "shape=torch.Size([73, 3, 64, 96]) | dtype=torch.uint8"),
    ]
    told = [line for line in lines if "[Tensor] video@" in line]
    assert len(told) == len(wanted)
    for (mark, text), line in zip(wanted, told):
        assert line.startswith(f"│   ├─ [Tensor] video@{ran.line(mark)} → {text}")


def test_var_tracker_as_it_stands(run: Run) -> None:
    ran = run(f"transformed_video = 1\n{VAR_TRACKER}\nassert transform_video(222) == 1\n")
    assert ran.log.entries() == ["transform_video"]


def test_log_to_file(run: Run) -> None:
    ran = run(
        "from monitorch.tracker import h4logger, log2file, logger\nxxx = 'é 42'\n"
        f"{LOG_TO_FILE}logger.warning('by the logger')\n",
        LTAG="mine",
    )
    (file,) = ran.files()
    assert file.parent == ran.folder / "logs" / "mine"
    assert re.fullmatch(r"process_\d+_thread_\d+\.log", file.name)
    text = file.read_text(encoding="utf-8")
    assert text.count("xx is é 42") == 1
    assert text.count("by the logger") == 1
    assert ran.output.count("xx is é 42") >= 1


@pytest.mark.parametrize("tag", ["", "../../outside", "a/b", "x" * 300, "two words"])
def test_the_tag_stays_within_logs(tag: str, run: Run) -> None:
    before = set(os.listdir(run.args[0].parent))  # type: ignore[attr-defined]
    ran = run(f"transformed_video = 1\n{VAR_TRACKER}\ntransform_video(2)\n", LTAG=tag)
    assert set(os.listdir(ran.folder.parent)) == before
    assert len(list(ran.folder.glob("logs/**/process_*_thread_*.log"))) == 1


MODEL = """
import torch
from torch import nn

model_executable = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
"""


def test_accuracy_monitor(run: Run) -> None:
    ran = run(f"{MODEL}{ACCURACY_MONITOR}\nmodel_executable(torch.ones(16, 4))\n")
    lines = ran.text_of_log().splitlines()
    assert "(0): Linear(in_features=4, out_features=8, bias=True)" in ran.output
    names = ["Linear", "ReLU", "Linear", "Sequential"]
    for kind in ("input", "output"):
        told = [line for line in lines if re.search(rf"\b{kind}\b", line)]
        assert [name for line in told for name in set(names) if name in line] == names
    shapes = re.findall(r"torch\.Size\(\[\d+, \d+\]\)", "\n".join(lines))
    sizes = [(16, 4), (16, 8), (16, 8), (16, 8), (16, 8), (16, 2), (16, 4), (16, 2)]
    assert shapes == [f"torch.Size([{a}, {b}])" for a, b in sizes]
    assert all("sum=" in line and "mean=" in line for line in lines if "shape=" in line)


def test_accuracy_monitor_of_a_transformer(run: Run) -> None:
    """Outputs that are tuples or None, keyword arguments alone, NaN."""
    ran = run(
        MODEL.replace(
            "nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))",
            "nn.TransformerEncoderLayer(8, 2, batch_first=True)",
        )
        + ACCURACY_MONITOR
        + "\nx = torch.ones(2, 3, 8)\nx[0] = float('nan')\nmodel_executable(x)\n"
        + "nn.MultiheadAttention(8, 2)\n"
    )
    text = ran.text_of_log()
    for name in ("Linear", "LayerNorm", "Dropout", "TransformerEncoderLayer"):
        assert name in text
    assert "nan" in text.lower()


def test_a_program_without_torch(tmp_path: pathlib.Path) -> None:
    """NumPy alone: neither the import nor a tracked call brings torch."""
    program = (
        "import sys, numpy\n"
        + VAR_TRACKER.replace("return transformed_video", "video = video_tensor + 1; return video")
        + "transform_video(numpy.zeros(3))\nassert 'torch' not in sys.modules\n"
    )
    done = recording.run_python(
        "-c", "import monitorch.tracker, sys; assert 'numpy' not in sys.modules", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "program.py").write_text(program)
    done = recording.run_python("program.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
