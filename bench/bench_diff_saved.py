"""How fast `monitorch diff` compares two folders of saved tensors, beside the loop that does it in
Python: `torch.load` of both files and `torch.allclose`, torch imported before the clock starts.

Claims, of 1,000 float32 tensors of 64 KB in each folder, on a RAM disk: at least 3 times faster
than the loop where they are equal to the bit, 1.5 times where each element is off by noise, and no
slower where all are beyond tolerance: there the loop says yes or no, and diff how far, where and
how many.
Exit code 1 where a claim does not hold.

The peers take turns, and the best time of each counts, since all that disturbs only adds to it.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import torch
from claims import Claims, best
from monitorch.spy import TensorSaver

COUNT = 1000
ELEMENTS = 64 * 1024 // 4
ROUNDS = 5
SCALES = {"equal": 1.0, "noise": 1 + 1e-6, "apart": 1.01}
LIMITS = {"equal": 3.0, "noise": 1.5, "apart": 1.0}
WHAT = {"equal": "equal to the bit", "noise": "off by noise", "apart": "beyond tolerance"}
COMMAND = shutil.which("monitorch")
RAM_DISK = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None


def save(folder: pathlib.Path, scale: float) -> None:
    generator = torch.Generator().manual_seed(0)
    saver = TensorSaver(folder)
    for _ in range(COUNT):
        saver.save("x", torch.randn(ELEMENTS, generator=generator) * scale)


def by_hand(a: pathlib.Path, b: pathlib.Path) -> bool:
    """Whether all are close; each is looked at, as one wants to know which are not."""
    close = [
        torch.allclose(
            torch.load(path, weights_only=True),
            torch.load(b / path.name, weights_only=True),
            rtol=1e-5,
            atol=1e-5,
            equal_nan=True,
        )
        for path in sorted(a.iterdir())
    ]
    return all(close)


def diff(a: pathlib.Path, b: pathlib.Path) -> bool:
    words = [COMMAND, "diff", "-q", str(a), str(b)]
    return subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0


def main() -> int:
    peers = (by_hand, diff)
    times: dict = {(peer, name): [] for name in SCALES for peer in peers}
    with tempfile.TemporaryDirectory(dir=RAM_DISK) as name:
        folder = pathlib.Path(name)
        save(folder / "first", 1.0)
        for name, scale in SCALES.items():
            save(folder / name, scale)
        for _ in range(ROUNDS):
            for peer, name in times:
                start = time.perf_counter()
                is_equal = peer(folder / "first", folder / name)
                times[peer, name].append(time.perf_counter() - start)
                if is_equal != (name != "apart"):
                    print(f"{peer.__name__}: {name}: a wrong verdict")
                    return 1
    claims = Claims(f"How fast two folders of {COUNT} saved tensors of 64 KB are compared")
    for name, limit in LIMITS.items():
        by_python, ours = (times[peer, name] for peer in peers)
        print(
            f"  {name}: torch.load and allclose {min(by_python):.3f} s, "
            f"monitorch diff {min(ours):.3f} s"
        )
        what = f"monitorch diff of folders, {WHAT[name]}"
        peer = "torch.load of both and torch.allclose, in a loop"
        claims.at_least(limit, what, best(by_python, ours), peer=peer, unit="times faster")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
