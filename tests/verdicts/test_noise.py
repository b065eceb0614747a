"""The noise floor: `monitorch diff` against a reference that was run twice, the second time with noise. Other
orders of a sum, kernels, batches and precisions raise no alarm; a wrong constant does, though every
element is within the tolerance of its dtype."""

import json

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

BASE = """
import torch
import torch.nn.functional as F

torch.manual_seed(0)
T, H, D = 24, 4, 16
x = torch.randn(2, T, H * D)
wq, wk, wv, wo = (torch.randn(H * D, H * D) / 8 for _ in range(4))
w1 = torch.randn(H * D, 4 * H * D) / 8
w2 = torch.randn(4 * H * D, H * D) / 16
mask = torch.full((T, T), -1e9).triu(1)


def norm(x):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return y


def attention(x):
    b = x.shape[0]
    q = (x @ wq).view(b, T, H, D).transpose(1, 2)
    k = (x @ wk).view(b, T, H, D).transpose(1, 2)
    v = (x @ wv).view(b, T, H, D).transpose(1, 2)
    s = q @ k.transpose(-1, -2) * 0.25 + mask
    p = s.softmax(-1)
    o = (p @ v).transpose(1, 2).reshape(b, T, H * D)
    return o @ wo


def net(x):
    for layer in range(4):
        x = x + attention(norm(x))
        h = F.gelu(norm(x) @ w1)
        x = x + h @ w2
    return x


y = net(x)
loss = y.square().mean()
"""

KERNEL = (
    """    s = q @ k.transpose(-1, -2) * 0.25 + mask
    p = s.softmax(-1)
    o = (p @ v)""",
    "    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n    o = o",
)

# Those that are held back were run once DIFF_FLOOR_MULTIPLE was chosen.
BENIGN = {
    "another kernel": KERNEL,
    "another order of a sum": ("h @ w2", "h.flip(-1) @ w2.flip(0)"),
    "a sum in a loop": ("h @ w2", "sum(h[..., i:i + 1] * w2[i] for i in range(256))"),
    "batches of one": ("net(x)\nloss", "torch.cat([net(x[:1]), net(x[1:])])\nloss"),
    "double inside": ("h @ w2", "(h.double() @ w2.double()).float()"),
    "torch's norm": (
        "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)",
        "F.rms_norm(x, (64,), eps=1e-6)",
    ),
    "held back: a softmax by hand": (
        "s.softmax(-1)",
        "(s - s.logsumexp(-1, keepdim=True)).exp()",
    ),
    "held back: weights cast and scaled": ("h @ w2", "(h @ (w2 * 3.0)) / 3.0"),
}

WRONG = {
    "eps": ("1e-6", "3e-6"),
    "a kernel's scale": ("* 0.25", "* 0.250002"),
    "an approximate gelu": ("gelu(norm(x) @ w1)", "gelu(norm(x) @ w1, approximate='tanh')"),
    "a product in bfloat16": ("h @ w2", "(h.bfloat16() @ w2.bfloat16()).float()"),
    "held back: a decay": ("x + h @ w2", "x * 0.99999 + h @ w2"),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Gives the trace of BASE with a text replaced."""
    folder = tmp_path_factory.mktemp("noise")

    def of(name, old="", new="", *options):
        (folder / "prog.py").write_text(BASE.replace(old, new) if old else BASE)
        assert not old or old in BASE
        done = forked_runs.run(
            folder, ["monitorch", "run", "-q", "-o", f"{name}.mtrace", *options, "prog.py"]
        )
        assert done.code == 0, done.output
        return folder / f"{name}.mtrace"

    return of


@pytest.fixture(scope="module")
def reference(record):
    return record("reference", "", "", "--repeat-noise")


@pytest.mark.parametrize("name", BENIGN)
def test_benign(record, reference, name):
    done = viewer.run("diff", reference, record("benign", *BENIGN[name]))
    assert done.returncode == 0 and done.stdout.startswith("equal: "), done.stdout
    assert "noise floor (ulp): measured at " in done.stdout


@pytest.mark.parametrize("name", WRONG)
def test_wrong(record, reference, name):
    old, new = WRONG[name]
    done = viewer.run("diff", "--json", reference, record("wrong", old, new))
    first = next(r for r in map(json.loads, done.stdout.splitlines()) if r.get("first") is True)
    assert done.returncode == 1
    assert first["line"] == 1 + BASE[: BASE.index(old)].count("\n")


def test_eps_is_within_the_tolerance_of_the_dtype(record, reference):
    """So the floor finds what the tolerance does not."""
    old, new = WRONG["a kernel's scale"]
    wrong = record("wrong", old, new)
    other = reference.with_name("alone.mtrace")
    other.write_bytes(reference.read_bytes())
    assert viewer.run("diff", other, wrong).returncode == 0
    noise = reference.with_name("reference.noise.mtrace")
    done = viewer.run("diff", "--noise", noise, other, wrong)
    assert done.returncode == 1 and "times the noise floor" in done.stdout


@pytest.mark.parametrize("name", ["another kernel", "another order of a sum", "a sum in a loop", "eps"])
def test_without_a_second_run_rounding_is_estimated(record, reference, name):
    alone = reference.with_name("without_noise.mtrace")
    alone.write_bytes(reference.read_bytes())
    other = record("other", *{**BENIGN, **WRONG}[name])
    verdict = json.loads(viewer.run("diff", "--json", alone, other).stdout.splitlines()[-1])
    assert (verdict["rounding_units"] > 2 * verdict["rounding_expected"]) == (name == "eps"), verdict
    said = viewer.run("diff", alone, other).stdout
    assert said.startswith("equal: ") and "noise floor: not measured" in said
    assert ("less, unless large numbers cancel" in said) == (name == "eps"), said


AUTOCAST = ("y = net(x)", "with torch.autocast('cpu', torch.bfloat16):\n    y = net(x)")


def test_bfloat16_has_a_floor_of_its_own(record):
    reference = record("wide", "", "", "--repeat-noise=bfloat16")
    done = viewer.run("diff", "--across-precisions", reference, record("cast", *AUTOCAST))
    assert done.returncode == 0 and done.stdout.startswith("equal: "), done.stdout
    assert "noise floor (bfloat16): measured at " in done.stdout
