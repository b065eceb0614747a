"""The first import of each program with a real model: no network, the same numbers in each run, one thread.

torchvision is installed without its compiled part here, whose operators are declared when it is imported: an
operator of that name without a kernel is enough for timm, which calls none of them.
"""

import os

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")

import numpy  # noqa: E402
import torch  # noqa: E402

MISSING = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
torchvision_operators = torch.library.Library("torchvision", "FRAGMENT")
for name, signature in MISSING.items():
    if not hasattr(torch.ops.torchvision, name):
        torchvision_operators.define(name + signature)

if os.environ.get("UNINITIALISED_IS_NAN"):
    # Under deterministic algorithms torch.empty gives NaN, and not whatever was in memory.
    torch.use_deterministic_algorithms(True, warn_only=True)
numpy.random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)
