"""register_modules and register_hooks say which of their names and classes select nothing."""

from __future__ import annotations

import logging

import pytest

torch = pytest.importorskip("torch")
spy = pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from tests.python.spy.facts import Inner, Model  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch


@pytest.fixture(params=["register_modules", "register_hooks"])
def register(request, tmp_path, caplog):
    """Calls it, and gives what it logged."""
    caplog.set_level(logging.WARNING)
    kind = spy.TensorSaver if request.param == "register_modules" else spy.CallTracer

    def call(*words, **named):
        made = kind(tmp_path)
        caplog.clear()
        getattr(made, request.param)(*words, **named)
        texts = [record.getMessage() for record in caplog.records]
        assert all(text.startswith(f"{request.param}: ") for text in texts)
        return [text.partition(": ")[2] for text in texts]

    return call


def test_what_selects_something_is_silent(register):
    assert register(Model()) == []
    assert register(Model(), (nn.Linear,), ["encoder", "decoder.proj"], ["0"]) == []
    assert register(Model(), nn.Module, "root") == []
    assert register(Model(), exclude_names=["no", "such"]) == []
    assert register(Model(), iter([nn.Linear]), iter(["encoder"]), iter(["0"])) == []


@pytest.mark.parametrize(
    "name, meant",
    [
        ("encodr", "; did you mean 'encoder'?"),
        ("decoder.poj", "; did you mean 'decoder.proj'?"),
        ("0.porj", "; did you mean '0.proj'?"),
        ("attention", "; there are 'root', 'encoder', '0' and 4 more"),
    ],
)
def test_a_name(register, name, meant):
    assert register(Model(), target_names=["proj", name]) == [
        f"no module path in Model contains {name!r}{meant}"
    ]


def test_names_that_are_iterators(register):
    assert len(register(Model(), target_names=iter(["encodr", "dcoder"]))) == 2


def test_a_class(register):
    assert register(Model(), (nn.Conv2d, nn.LSTM)) == [
        "Model has no Conv2d or LSTM; there are 'Model', 'Sequential', 'Inner' and 2 more"
    ]
    assert register(Model(), nn.Conv2d, "encoder")[0].startswith("Model has no Conv2d; there are")


def test_all_conditions_together(register):
    assert register(Model(), nn.ReLU, "decoder") == ["no module in Model fulfils all conditions at once"]
    assert register(Model(), Inner, ["encoder"], ["0", "2"]) == [
        "no module in Model fulfils all conditions at once"
    ]


def test_wrapped_models(register):
    wrapped = nn.DataParallel(Model())
    assert register(wrapped, target_names="decoder.proj", unwrap=True) == []
    (text,) = register(wrapped, target_names="module.decoder", unwrap=True)
    assert text.startswith("no module path in DataParallel contains 'module.decoder'; ")
    assert register(wrapped, target_names="module.decoder") == []
