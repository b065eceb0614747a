"""What saving 1,000 tensors of 64 KB takes on a RAM disk, against torch.save.

Claim: save_pt, which writes TensorSaver's .pt files, is at least 5 times faster than torch.save in
the same run; or, where the system alone takes more than a fifth of torch.save's time for such a file
(the same bytes by os.write, then renamed: nobody can be faster), it takes at most 1.4 times what the
system takes. Beside them: spy_save in a context, the format that puts all into one file, and a view
that shows 8 KB of 4 MB. Each round makes new files; the smallest of the rounds counts. Exit code 1
where the claim does not hold.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Callable

from claims import Claims, best

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import recording  # noqa: E402

recording.package()

import torch  # noqa: E402
from monitorch import _recorder  # noqa: E402
from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402

CLAIM = 5.0
SYSTEM_CLAIM = 1.4
COUNT = 1000
ROUNDS = 7

TENSOR = torch.randn(16384)
VIEW = torch.randn(1000, 1000)[:, :2]
KEY = ("step0", "encoder.attn", "q")


def bytes_of_a_file() -> bytes:
    with tempfile.NamedTemporaryFile() as file:
        _recorder.save_pt(file.name, TENSOR, (*KEY, 0), may_replace=True)
        return pathlib.Path(file.name).read_bytes()


BYTES = bytes_of_a_file()


def ours(folder: str) -> None:
    for i in range(COUNT):
        _recorder.save_pt(f"{folder}/{i}.pt", TENSOR, (*KEY, i), may_replace=True)


def by_torch(folder: str) -> None:
    for i in range(COUNT):
        torch.save(TENSOR, f"{folder}/{i}.pt")


def in_context(folder: str) -> None:
    with DebugContext(TensorSaver(folder), prefix="step0"):
        for _ in range(COUNT):
            spy_save("q", TENSOR)


def by_system(folder: str) -> None:
    for i in range(COUNT):
        descriptor = os.open(f"{folder}/.{i}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        os.write(descriptor, BYTES)
        os.close(descriptor)
        os.rename(f"{folder}/.{i}", f"{folder}/{i}.pt")


def together(folder: str) -> None:
    writer = _recorder.SafetensorsWriter(f"{folder}/all.safetensors")
    for i in range(COUNT):
        writer.add(TENSOR, (*KEY, i))
    writer.finish()


def view_ours(folder: str) -> None:
    for i in range(COUNT // 10):
        _recorder.save_pt(f"{folder}/{i}.pt", VIEW, (*KEY, i), may_replace=True)


def view_by_torch(folder: str) -> None:
    for i in range(COUNT // 10):
        torch.save(VIEW, f"{folder}/{i}.pt")


WAYS: list[tuple[str, Callable[[str], None], int]] = [
    ("save_pt", ours, COUNT),
    ("torch.save", by_torch, COUNT),
    ("spy_save in a context", in_context, COUNT),
    ("os.write and rename", by_system, COUNT),
    ("safetensors, one file", together, COUNT),
    ("save_pt, a view", view_ours, COUNT // 10),
    ("torch.save, a view", view_by_torch, COUNT // 10),
]


def measure(function: Callable[[str], None], place: str | None) -> float:
    folder = tempfile.mkdtemp(dir=place)
    try:
        started = time.perf_counter()
        function(folder)
        return time.perf_counter() - started
    finally:
        shutil.rmtree(folder)


def main() -> int:
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    if place is None:
        print("there is no /dev/shm: measured on a disk")
    rounds = [[measure(way, place) for _, way, _ in WAYS] for _ in range(ROUNDS)]
    columns = list(zip(*rounds))
    for (name, _, count), times in zip(WAYS, columns):
        print(f"{name:24} {min(times) / count * 1e6:8.1f} us each")
    saved, peer, _, system = columns[:4]
    print(f"views: torch.save takes {min(columns[6]) / min(columns[5]):.0f} times what save_pt takes")
    claims = Claims(f"Saving {COUNT:,} tensors of 64 KB on a RAM disk")
    if min(peer) < CLAIM * min(system):
        print(f"the system takes more than 1/{CLAIM:.0f} of torch.save's time: that is the bound")
        name = "the system alone for such files (os.write and rename)"
        claims.at_most(SYSTEM_CLAIM, "TensorSaver's .pt files", best(saved, system), peer=name)
    if min(peer) >= CLAIM * min(system) or min(peer) >= CLAIM * min(saved):
        faster = best(peer, saved)
        claims.at_least(CLAIM, "TensorSaver's .pt files", faster, peer="torch.save", unit="times faster")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
