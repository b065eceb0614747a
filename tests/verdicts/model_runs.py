"""Records the models of models.py twice each, so that nothing but rounding differs:

    python -m monitorch run --no-record … model_runs.py WAY FOLDER

batch: one sample alone, and among four; what each nn.Module gives for it goes through `see`.
order: sums as torch does them, and in another order; float32 and bfloat16.
"""

import pathlib
import sys

import monitorch
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import models  # noqa: E402
import other_sums  # noqa: E402


def see(place, value):
    return value


def see_first(place):
    def hook(module, given, output):
        for part in output if isinstance(output, tuple) else [output]:
            if isinstance(part, torch.Tensor):
                see(place, part[:1])

    return hook


def record_batches(folder):
    for kind in models.MODELS:
        for side, count in (("a", 1), ("b", 4)):
            model, x = models.make(kind)
            for place, module in model.named_modules():
                module.register_forward_hook(see_first(place))
            with monitorch.record(folder / f"{kind.__name__}.{side}.mtrace"):
                model(x[:count])


def record_orders(folder):
    for kind in models.MODELS:
        for dtype in (torch.float32, torch.bfloat16):
            name = f"{kind.__name__}.{str(dtype).removeprefix('torch.')}"
            for values in (None, "all"):
                kept = "whole" if values else "figures"
                model, x = models.make(kind, dtype)
                with monitorch.record(folder / f"{name}.{kept}.a.mtrace", values=values):
                    model(x)
                with other_sums.active():
                    with monitorch.record(folder / f"{name}.{kept}.b.mtrace", values=values):
                        model(x)


def main():
    way, folder = sys.argv[1:]
    with torch.no_grad():
        {"batch": record_batches, "order": record_orders}[way](pathlib.Path(folder))


main()
