"""Modules known by their paths: which are registered, wrappers, modules that are gone."""

from __future__ import annotations

import copy
import gc
import pickle

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import BaseDebugger, TensorSaver  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


def make_model():
    return nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 2)))


def paths(debugger):
    return sorted(debugger.module_paths.values())


@pytest.fixture
def debugger(tmp_path):
    return BaseDebugger(tmp_path)


@pytest.mark.parametrize(
    "words, found",
    [
        ({}, ["0", "1", "1.0", "1.1", "root"]),
        ({"target_classes": None}, ["0", "1", "1.0", "1.1", "root"]),
        ({"target_classes": nn.Linear}, ["0", "1.1"]),
        ({"target_classes": [nn.Linear, nn.ReLU]}, ["0", "1.0", "1.1"]),
        ({"target_names": "1."}, ["1.0", "1.1"]),
        ({"target_names": ["1.0", "oo"]}, ["1.0", "root"]),
        ({"target_names": [], "exclude_names": []}, ["0", "1", "1.0", "1.1", "root"]),
        ({"exclude_names": ("1",)}, ["0", "root"]),
        ({"target_names": ["1"], "exclude_names": ["1."], "target_classes": nn.Module}, ["1"]),
    ],
)
def test_selection(debugger, words, found):
    model = make_model()
    debugger.register_modules(model, **words)
    assert paths(debugger) == found


def test_several_models_and_again(debugger):
    first, second = make_model(), nn.Linear(1, 1)
    debugger.register_modules(first)
    debugger.register_modules(second)
    assert debugger.get_module_path(second) == debugger.get_module_path(first) == "root"
    debugger.register_modules(nn.ModuleDict({"a": first}))
    assert debugger.get_module_path(first[1][0]) == "a.1.0"


def test_a_module_in_two_places_has_the_first_path(debugger):
    shared = nn.Linear(1, 1)
    debugger.register_modules(nn.Sequential(shared, nn.Sequential(shared)))
    assert debugger.get_module_path(shared) == "0"


def test_a_freed_modules_address_is_no_path(debugger):
    model = nn.Linear(1, 1)
    debugger.register_modules(model)
    key = id(model)
    del model
    gc.collect()
    for _ in range(1000):
        other = nn.Linear(1, 1)
        if id(other) == key:
            break
    assert debugger.get_module_path(other) == "unknown"


def test_paths_may_be_given_by_hand(debugger):
    module = nn.Linear(1, 1)
    debugger.module_paths[id(module)] = "mine"
    assert debugger.get_module_path(module) == "mine"


def wrapped(model):
    return nn.DataParallel(torch.compile(model, backend="eager"))


def test_wrappers_stand_in_paths(debugger):
    model = make_model()
    debugger.register_modules(wrapped(model))
    assert debugger.get_module_path(model[1]) == "module._orig_mod.1"


def test_unwrapped_paths(debugger):
    inner = make_model()
    model = nn.ModuleDict({"a": wrapped(inner), "module": nn.Linear(1, 1)})
    debugger.register_modules(wrapped(model), unwrap=True)
    assert debugger.get_module_path(model) == "root"
    assert debugger.get_module_path(inner[1][0]) == "a.1.0"
    assert debugger.get_module_path(model["module"]) == "module"


def test_savers_are_copied_and_pickled(tmp_path):
    """As what holds one may be: a copy for a worker knows no module, and saves."""
    model = make_model()
    saver = TensorSaver(tmp_path)
    saver.register_modules(model)
    saver.save("x", torch.ones(1))
    for other in (copy.deepcopy(saver), pickle.loads(pickle.dumps(saver))):
        other.save("x", torch.ones(1))
        other.save("y", torch.ones(1))
        assert other.call_counts["x"] >= 2 and other.get_module_path(nn.ReLU()) == "unknown"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"x.call0.pt", "x.call1.pt", "x.call2.pt", "y.call0.pt", "y.call1.pt"}
