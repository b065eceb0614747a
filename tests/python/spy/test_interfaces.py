"""What the old package's interface says of its names and of savers, fact by fact."""

from __future__ import annotations

import pathlib

import pytest

torch = pytest.importorskip("torch")
spy = pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402

from tests.python.spy.facts import Inner, Model, X, load  # noqa: E402
from tests.python.spy.signatures import begins_with, names_in, takes_modules_to_register  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch


@pytest.fixture
def model():
    return Model()


# Names


def test_every_name_of_the_old_package():
    for name in (
        "TensorSaver DebugContext get_debug_context spy_save CallTracer BaseDebugger parse_trace "
        "build_tree Node squash_numeric_indices prune_leaves construct_graph "
        "apply_graph_render_options render_graph save_tree_json"
    ).split():
        assert callable(getattr(spy, name)), name


def test_second_import_of_the_document():
    from monitorch.spy.saver import spy_save as other

    assert other is spy_save


def test_savers_and_tracers_have_one_base():
    assert issubclass(TensorSaver, spy.BaseDebugger) and issubclass(
        spy.CallTracer, spy.BaseDebugger
    )


# TensorSaver


def test_saver_arguments():
    assert begins_with(TensorSaver, output_dir=..., enabled=True)


def test_saver_makes_the_folder(tmp_path):
    TensorSaver(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_saver_takes_a_folder_that_is_there(tmp_path):
    TensorSaver(tmp_path)
    TensorSaver(str(tmp_path))


def test_output_dir_is_a_path(tmp_path):
    saver = TensorSaver(str(tmp_path))
    assert isinstance(saver.output_dir, pathlib.Path) and saver.output_dir == tmp_path


def test_saver_starts_enabled_and_empty(saver):
    assert saver.enabled is True
    assert saver.call_counts == {} and isinstance(saver.call_counts, dict)
    assert saver.module_paths == {} and isinstance(saver.module_paths, dict)


def test_enabled_is_taken(tmp_path):
    assert TensorSaver(tmp_path, False).enabled is False
    assert TensorSaver(tmp_path, enabled=False).enabled is False


def test_disabled_saves_nothing(tmp_path, model):
    saver = TensorSaver(tmp_path, enabled=False)
    saver.register_modules(model)
    saver.save("x", X)
    with DebugContext(saver):
        model(X)
    assert names_in(tmp_path) == []


def test_enabled_may_change(saver, tmp_path):
    saver.enabled = False
    saver.save("x", X)
    saver.enabled = True
    saver.save("y", X)
    assert names_in(tmp_path) == ["y.call0.pt"]


# Registration


def test_register_modules_arguments():
    assert takes_modules_to_register(TensorSaver.register_modules)


def test_registers_every_module(saver, model):
    saver.register_modules(model)
    wanted = {id(m): path or "root" for path, m in model.named_modules()}
    assert saver.module_paths == wanted


def test_root_path(saver, model):
    saver.register_modules(model)
    assert saver.get_module_path(model) == "root"


def test_registers_by_class(saver, model):
    saver.register_modules(model, target_classes=(Inner,))
    assert sorted(saver.module_paths.values()) == ["decoder", "encoder.0", "encoder.2"]


def test_registers_by_classes(saver, model):
    saver.register_modules(model, (nn.ReLU, nn.Linear))
    paths = ["decoder.proj", "encoder.0.proj", "encoder.1", "encoder.2.proj"]
    assert sorted(saver.module_paths.values()) == paths


def test_subclasses_count_as_their_class(saver, model):
    saver.register_modules(model, target_classes=(nn.Module,), target_names=["decoder"])
    assert sorted(saver.module_paths.values()) == ["decoder", "decoder.proj"]


def test_path_contains_one_of_the_names(saver, model):
    saver.register_modules(model, target_names=["coder.0", "decod"])
    wanted = ["decoder", "decoder.proj", "encoder.0", "encoder.0.proj"]
    assert sorted(saver.module_paths.values()) == wanted


def test_path_contains_none_of_the_excluded(saver, model):
    saver.register_modules(model, exclude_names=["proj", "encoder"])
    assert sorted(saver.module_paths.values()) == ["decoder", "root"]


def test_excluded_wins(saver, model):
    saver.register_modules(model, target_names=["encoder"], exclude_names=["proj", "1"])
    assert sorted(saver.module_paths.values()) == ["encoder", "encoder.0", "encoder.2"]


def test_root_is_found_by_its_path(saver, model):
    saver.register_modules(model, target_names=["root"])
    assert list(saver.module_paths.values()) == ["root"]


def test_registers_several_models(saver, model):
    other = nn.Linear(2, 2)
    saver.register_modules(model)
    saver.register_modules(other)
    assert saver.get_module_path(other) == "root"
    assert saver.get_module_path(model.decoder) == "decoder"


def test_unregistered_path(saver, model):
    saver.register_modules(model, target_classes=(Inner,))
    assert saver.get_module_path(model) == "unknown"
    assert saver.get_module_path(nn.Linear(1, 1)) == "unknown"


# TensorSaver.save


def test_save_arguments():
    assert begins_with(TensorSaver.save, name=..., tensor=..., call_idx=None, norm_only=False)


def test_save_counts_each_name(saver, tmp_path):
    for name in ("a", "b", "a", "a"):
        saver.save(name, X)
    assert names_in(tmp_path) == ["a.call0.pt", "a.call1.pt", "a.call2.pt", "b.call0.pt"]


def test_call_counts_tell_how_many(saver):
    for name in ("a", "b", "a"):
        saver.save(name, X)
    assert saver.call_counts == {"a": 2, "b": 1}
    assert saver.call_counts["never"] == 0 and "never" not in saver.call_counts
    saver.reset_counts()
    assert saver.call_counts["a"] == 0


def test_given_call_is_taken_and_not_counted(saver, tmp_path):
    saver.save("a", X)
    saver.save("a", X, call_idx=7)
    saver.save("a", X)
    saver.save("b", X, 3)
    assert names_in(tmp_path) == ["a.call0.pt", "a.call1.pt", "a.call7.pt", "b.call3.pt"]


def test_given_call_zero_is_taken(saver, tmp_path):
    saver.save("a", X)
    saver.save("a", X + 1, call_idx=0)
    assert names_in(tmp_path) == ["a.call0.pt"]
    assert torch.equal(load(tmp_path, "a.call0.pt"), X + 1)


def test_saved_value(saver, tmp_path):
    saver.save("a", X)
    found = load(tmp_path, "a.call0.pt")
    assert type(found) is torch.Tensor and torch.equal(found, X)


def test_saved_detached_on_the_cpu(saver, tmp_path):
    x = X.clone().requires_grad_()
    saver.save("a", x * 2)
    saver.save("p", nn.Parameter(X.clone()))
    for name in ("a", "p"):
        found = load(tmp_path, f"{name}.call0.pt")
        assert type(found) is torch.Tensor
        assert not found.requires_grad and found.grad_fn is None and found.device.type == "cpu"
    (x * 2).sum().backward()
    assert torch.equal(x.grad, torch.full((2, 3), 2.0))


def test_later_change_in_place_is_not_saved(saver, tmp_path):
    x = X.clone()
    saver.save("a", x)
    x.zero_()
    assert torch.equal(load(tmp_path, "a.call0.pt"), X)


def test_norm_per_batch_row(saver, tmp_path):
    x = torch.randn(5, 3, 4, generator=torch.Generator().manual_seed(3))
    saver.save("n", x, norm_only=True)
    found = load(tmp_path, "n.call0.pt")
    assert found.shape == (5,) and found.dtype == x.dtype
    assert torch.allclose(found, x.flatten(1).norm(dim=1), rtol=1e-6)


def test_norm_counts_as_the_name(saver, tmp_path):
    saver.save("n", X)
    saver.save("n", X, norm_only=True)
    assert names_in(tmp_path) == ["n.call0.pt", "n.call1.pt"]
    assert load(tmp_path, "n.call1.pt").shape == (2,)


def test_reset_counts(saver, tmp_path):
    saver.save("a", X)
    saver.save("a", X)
    saver.reset_counts()
    assert saver.call_counts == {}
    saver.save("a", X + 1)
    assert names_in(tmp_path) == ["a.call0.pt", "a.call1.pt"]
    assert torch.equal(load(tmp_path, "a.call0.pt"), X + 1)
