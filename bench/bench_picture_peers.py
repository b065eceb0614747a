"""How many screens the whole picture of a model needs, beside torchvista's and TorchLens'.

Six models and a training (tests/view/flow/models.py). A screen has 1,280 x 800 pixels. Ours is the picture
that `monitorch graph` draws by default: of a step, with deep calls as one box each. Those of the peers
are the whole graph with all modules open, measured in Chromium at the size at which its texts have the
size that the peer gave them; TorchLens needs graphviz's dot. Of a training, peers draw the forward alone. Times are of one run: starting Python and torch, recording and drawing; or tracing and layout.

Claim: ours need at most 1.5 screens. Peers that are not installed are left out with a sentence:

    pip install torchvista torchlens graphviz

Exit code 1 where a claim does not hold.
"""

import importlib
import importlib.util
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import time
import warnings

from claims import Claims

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
MODELS = ROOT / "tests/view/flow/models.py"
COMMAND = pathlib.Path(os.environ.get("MONITORCH_BUILD", ROOT / "build")) / "bin/monitorch"
CLAIM = 1.5
SCREEN = 1280 * 800
NAMES = {
    "llama": "a Llama of 6 layers",
    "resnet": "a ResNet of 8 blocks",
    "unet": "a U-Net of 4 levels",
    "lstm": "an LSTM of 50 steps",
    "moe": "a mixture of experts, 4 layers",
    "gan": "a GAN's step",
    "nanogpt": "nanoGPT's training",
}


def ours(name, folder):
    """Its pixels, the number of its boxes, and seconds."""
    trace, picture = folder / "run.mtrace", folder / "run.svg"
    begun = time.perf_counter()
    words = ["--backward"] if name in ("gan", "nanogpt") else []
    program = ROOT / "tests/view/flow/gpt_training.py" if name == "nanogpt" else MODELS
    argument = "3" if name == "nanogpt" else name
    recording = [sys.executable, "-m", "monitorch", "run", "-q", *words, "-o", trace, program, argument]
    subprocess.run(recording, check=True, stdout=subprocess.DEVNULL)
    recorded = time.perf_counter() - begun
    begun = time.perf_counter()
    subprocess.run([COMMAND, "graph", "-q", trace, "-o", picture], check=True)
    drawn = time.perf_counter() - begun
    text = picture.read_text()
    width, height = (float(re.search(rf'{side}="([\d.]+)pt"', text)[1]) / 0.75 for side in ("width", "height"))
    return width * height, text.count('class="node"'), recorded + drawn


def model_of(name):
    import torch

    torch.manual_seed(0)
    if name == "nanogpt":
        gpt = runpy.run_path(str(ROOT / "tests/view/flow/gpt_training.py"))
        ids = torch.randint(0, 65, (4, 16))
        return gpt["GPT"](), (ids, ids)
    return importlib.import_module("tests.view.flow.models").MODELS[name]()


def torchvista_of(name, folder, window):
    import contextlib
    import io

    import torchvista

    model, inputs = model_of(name)
    path = folder / "torchvista.html"
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        torchvista.trace_model(
            model.eval(), inputs, export_format="html", export_path=str(path), collapse_modules_after_depth=50
        )
    window.open(path)
    box = None
    for _ in range(300):
        found = window.do(
            "(() => { const g = document.querySelector('svg g'); if (!g) return null; const b = g.getBBox();"
            " return [b.width, b.height, document.querySelectorAll('svg text').length]; })()"
        )
        if found and found[0] > 0 and found == box:
            break
        box = found
        time.sleep(0.2)
    return box[0] * box[1], box[2], time.perf_counter() - begun


def torchlens_of(name, folder, window):
    import torchlens

    model, inputs = model_of(name)
    begun = time.perf_counter()
    torchlens.trace(model.eval(), inputs).draw(
        vis_save_only=True, vis_fileformat="svg", vis_outpath=str(folder / "torchlens")
    )
    text = next(folder.glob("torchlens*.svg")).read_text()
    width, height = (float(re.search(rf'{side}="([\d.]+)pt"', text)[1]) / 0.75 for side in ("width", "height"))
    return width * height, text.count('class="node"'), time.perf_counter() - begun


def describe(name, found):
    pixels, count, seconds = found
    what = "texts" if name == "torchvista" else "boxes"
    return f"{name} {pixels / SCREEN:.3g} ({count} {what}, {seconds:.1f} s)"


def peers_of(name, folder, has_window):
    from tests.support import browser

    texts = []
    for module, draw in (("torchvista", torchvista_of), ("torchlens", torchlens_of)):
        if not has_window or importlib.util.find_spec(module) is None:
            continue
        window = browser.Browser()
        try:
            texts.append(describe(module, draw(name, folder, window)))
        except Exception as error:  # a peer's: the others are measured all the same
            texts.append(f"{module}: not drawn, {type(error).__name__}")
            print(f"{module} did not draw {name}: {error}", file=sys.stderr)
        finally:
            window.close()
    return "; ".join(texts)


def main():
    if importlib.util.find_spec("torch") is None:
        print("torch is not installed: there is no model to draw")
        return 0
    from tests.support import browser

    missing = [name for name in ("torchvista", "torchlens") if importlib.util.find_spec(name) is None]
    if browser.PROGRAM is None:
        missing.append("chromium")
    if missing:
        print(f"{', '.join(missing)}: not installed, left out")
    warnings.simplefilter("ignore")
    claims = Claims("How many screens the whole picture of a model needs")
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            found = ours(name, pathlib.Path(folder))
            peers = peers_of(name, pathlib.Path(folder), browser.PROGRAM is not None)
        what = f"{NAMES[name]} ({found[1]} boxes, {found[2]:.1f} s)"
        claims.at_most(CLAIM, what, found[0] / SCREEN, peer=peers, unit="screens")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
