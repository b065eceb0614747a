"""Models of real libraries, where these are installed: all that their modules return is saved and
read back, and their calls are traced. Weights are random; nothing is fetched."""

from __future__ import annotations

import importlib

import pytest

from tests.python.spy.signatures import names_in
from tests.support import recording, warm

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import (  # noqa: E402
    CallTracer,
    DebugContext,
    TensorSaver,
    build_tree,
    construct_graph,
    spy_load,
    spy_save,
)

nn = torch.nn
pytestmark = pytest.mark.torch

FORMATS = ["pt", "safetensors", "mtrace"]
GPT2 = """\
import torch
from transformers.models.gpt2.modeling_gpt2 import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
config = GPT2Config(
    n_layer=2, n_head=2, n_embd=32, vocab_size=100, bos_token_id=0, eos_token_id=0,
    attn_implementation="eager",
)
model = GPT2LMHeadModel(config).eval()
tokens = torch.arange(10).view(2, 5)
"""


def library(name):
    """The module; skips where it is missing or does not go with this torch."""
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"{name} cannot be imported: {error}")


def transformer():
    model = nn.Transformer(16, 2, 2, 2, 32, batch_first=True)
    return model.eval(), (torch.randn(2, 5, 16), torch.randn(2, 3, 16))


def gpt2():
    library("transformers.models.gpt2.modeling_gpt2")
    names = {}
    exec(GPT2, names)
    return names["model"], (names["tokens"],)


def t5():
    found = library("transformers.models.t5.modeling_t5")
    config = found.T5Config(
        vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        decoder_start_token_id=0,
    )
    tokens = torch.arange(10).view(2, 5)
    inputs = {"input_ids": tokens, "decoder_input_ids": tokens[:, :3]}
    return found.T5ForConditionalGeneration(config).eval(), inputs


def resnet():
    return library("timm").create_model("resnet18", pretrained=False).eval(), (
        torch.randn(1, 3, 64, 64),
    )


@pytest.fixture(scope="module", params=[transformer, gpt2, t5, resnet], ids=lambda f: f.__name__)
def model_and_call(request):
    torch.manual_seed(0)
    model, inputs = request.param()

    def call():
        with torch.no_grad():
            return model(**inputs) if isinstance(inputs, dict) else model(*inputs)

    return model, call


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (dict, tuple, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(part)


@pytest.mark.parametrize("name", FORMATS)
def test_all_that_modules_return(tmp_path, model_and_call, name):
    model, call = model_and_call
    saver = TensorSaver(tmp_path, format=name)
    saver.register_modules(model)
    returned = []

    def hook(module, given, output):
        copies = [tensor.clone() for tensor in tensors_in(output)]
        returned.append((saver.get_module_path(module), copies))
        spy_save("out", output, module)

    handles = [module.register_forward_hook(hook) for module in model.modules()]
    with DebugContext(saver, "p"):
        call()
    for handle in handles:
        handle.remove()
    saved = [(entry.module, entry.load()) for entry in spy_load(tmp_path).entries()]
    wanted = [(path, tensor) for path, tensors in returned for tensor in tensors]
    assert len(saved) >= len(wanted) > 20
    for path, tensor in wanted:
        assert any(path == p and torch.equal(tensor, t) for p, t in saved), path


def test_calls(tmp_path, model_and_call):
    """In the order in which torch's own hooks tell of them."""
    model, call = model_and_call
    names = {module: path or "root" for path, module in model.named_modules()}
    wanted = []
    handles = [
        module.register_forward_hook(lambda module, *_: wanted.append(names[module]))
        for module in model.modules()
    ]
    tracer = CallTracer(tmp_path)
    tracer.register_hooks(model, shapes=True, remove=True)
    with tracer:
        call()
    for handle in handles:
        handle.remove()
    assert tracer.get_trace() == wanted and len(wanted) > 20
    assert tracer.save_trace().read_text().count("\n") == len(wanted) - 1
    assert " x " in construct_graph(build_tree(wanted)).source


def test_names_in_a_librarys_source(tmp_path):
    """Neither the program nor the library knows of it."""
    library("transformers.models.gpt2.modeling_gpt2")
    (tmp_path / "program.py").write_text(GPT2 + "model(tokens)\n")
    words = ["--include", "transformers.models.gpt2*", "--spy", "attn_weights", "--spy-to", "out"]
    words = ["-m", "monitorch", "run", "--no-record", *words, "program.py"]
    done = recording.run_python(*words, python=warm.python(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(names_in(tmp_path / "out")) >= 2
    found = spy_load(tmp_path / "out")[""]
    assert sorted(found) == ["transformer.h.0.attn", "transformer.h.1.attn"]
    assert all(entry.shape == (2, 2, 5, 5) for path in found for entry in found[path].entries())
