"""What the old package's interface says of contexts and of spy_save, fact by fact."""

from __future__ import annotations

import asyncio
import contextvars
import logging

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import (  # noqa: E402
    BaseDebugger,
    DebugContext,
    TensorSaver,
    get_debug_context,
    spy_save,
)

from tests.python.spy.facts import Model, X, load  # noqa: E402
from tests.python.spy.signatures import begins_with, defaults, names_in  # noqa: E402
from tests.support import threads  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch


@pytest.fixture
def model():
    return Model()


# DebugContext


def test_context_arguments():
    assert begins_with(DebugContext, saver=..., prefix="", module_path_override=None)


def test_context_attributes(saver):
    context = DebugContext(saver, prefix="step0")
    assert context.saver is saver and context.debugger is saver and context.prefix == "step0"


def test_context_is_current_within(saver):
    assert get_debug_context() is None
    context = DebugContext(saver)
    assert get_debug_context() is None
    with context as given:
        assert given is context and get_debug_context() is context
    assert get_debug_context() is None


def test_contexts_nest(saver):
    with DebugContext(saver, prefix="a") as outer:
        with DebugContext(saver, prefix="b") as inner:
            assert get_debug_context() is inner
        assert get_debug_context() is outer


def test_one_context_within_itself(saver):
    context = DebugContext(saver)
    with context:
        with context:
            assert get_debug_context() is context
        assert get_debug_context() is context
    assert get_debug_context() is None


def test_context_may_be_entered_again(saver, tmp_path):
    context = DebugContext(saver, prefix="p")
    for _ in range(2):
        with context:
            spy_save("x", X)
    assert names_in(tmp_path) == ["p.manual.x.call0.pt", "p.manual.x.call1.pt"]


def test_context_is_the_threads_own(saver):
    seen = []
    with DebugContext(saver):
        threads.run(lambda: seen.append(get_debug_context()))
    assert seen == [None]


def test_context_is_the_tasks_own(saver):
    async def inside(seen):
        with DebugContext(saver, prefix="task"):
            await asyncio.sleep(0)
            seen.append(get_debug_context().prefix)

    async def main():
        seen = []
        task = asyncio.create_task(inside(seen))
        await asyncio.sleep(0)
        assert get_debug_context() is None
        await task
        return seen

    assert asyncio.run(main()) == ["task"]


def test_task_inherits_the_context(saver):
    async def main():
        with DebugContext(saver) as context:
            task = asyncio.create_task(asyncio.sleep(0, result=None))
            await task

            async def tell():
                return get_debug_context()

            assert await asyncio.create_task(tell()) is context

    asyncio.run(main())


def test_context_is_a_context_variables_value(saver):
    """A copy of the context taken inside still has it outside."""
    with DebugContext(saver) as context:
        copied = contextvars.copy_context()
    assert get_debug_context() is None and copied.run(get_debug_context) is context


def test_exception_passes_through(saver):
    with pytest.raises(ZeroDivisionError), DebugContext(saver):
        1 / 0
    assert get_debug_context() is None


def test_override_replaces_the_path(saver, tmp_path, model):
    saver.register_modules(model)
    with DebugContext(saver, prefix="p", module_path_override="here"):
        spy_save("x", X, model.decoder)
    assert names_in(tmp_path) == ["p.here.x.call0.pt"]


def test_override_of_unregistered_module(saver, tmp_path):
    with DebugContext(saver, "p", "here"):
        spy_save("x", X, nn.Linear(1, 1))
    assert names_in(tmp_path) == ["p.here.x.call0.pt"]


# Savers of others


class Other:
    """No subclass of anything: only what a context asks of a saver."""

    def __init__(self, path="some.path"):
        self.path, self.saved, self.asked = path, [], []

    def get_module_path(self, module):
        self.asked.append(module)
        return self.path

    def save(self, name, tensor):
        self.saved.append((name, tensor))


def test_other_saver(model):
    other = Other()
    with DebugContext(other, prefix="p"):
        spy_save("x", X, model)
    assert other.saved == [("p.some.path.x", X)] and other.saved[0][1] is X
    assert other.asked == [model]


def test_other_saver_without_prefix_or_module():
    other = Other()
    with DebugContext(other):
        spy_save("x", X)
    assert [name for name, _ in other.saved] == ["manual.x"]


def test_other_saver_that_does_not_know_the_module(caplog):
    other = Other("unknown")
    with DebugContext(other):
        spy_save("x", X, nn.Linear(1, 1))
    assert other.saved == [] and "Module path unknown for tensor" in caplog.text


def test_saver_of_the_common_base(tmp_path, model):
    class Shapes(BaseDebugger):
        def save(self, name, tensor):
            (self.output_dir / name).write_text(str(tuple(tensor.shape)))

    saver = Shapes(tmp_path / "shapes")
    saver.register_modules(model, target_names=["decoder"])
    with DebugContext(saver, "p"):
        model.decoder(X)
    assert (tmp_path / "shapes" / "p.decoder.y").read_text() == "(2, 3)"


def test_error_of_another_saver_comes_out():
    class Failing(Other):
        def save(self, name, tensor):
            raise ValueError(f"no room for {name}")

    with pytest.raises(ValueError, match="no room for manual.x"), DebugContext(Failing()):
        spy_save("x", X)


def test_subclass_of_saver_gets_each_tensor(tmp_path, model):
    class Mine(TensorSaver):
        seen: list = []

        def save(self, name, tensor, call_idx=None, norm_only=False):
            self.seen.append(name)
            super().save(name, tensor, call_idx, norm_only)

    saver = Mine(tmp_path)
    saver.register_modules(model)
    with DebugContext(saver, "p"):
        model(X)
    assert Mine.seen == ["p.encoder.0.y", "p.encoder.2.y", "p.decoder.y"]
    assert len(names_in(tmp_path)) == 3


def test_subclass_may_save_norms_alone(tmp_path, model):
    class Norms(TensorSaver):
        def save(self, name, tensor, call_idx=None, norm_only=False):
            super().save(name, tensor, call_idx, norm_only=True)

    saver = Norms(tmp_path)
    saver.register_modules(model)
    with DebugContext(saver):
        y = model(X)
    found = load(tmp_path, "decoder.y.call0.pt")
    assert torch.allclose(found, y.detach().norm(dim=1))


def test_subclass_may_name_modules(tmp_path):
    class Mine(TensorSaver):
        def get_module_path(self, module):
            return type(module).__name__

    with DebugContext(Mine(tmp_path)):
        spy_save("x", X, nn.Linear(1, 1))
    assert names_in(tmp_path) == ["Linear.x.call0.pt"]


def test_context_saves_by_itself(saver, tmp_path, model):
    """`_save` is called by others' code: without being current, too."""
    saver.register_modules(model)
    context = DebugContext(saver, prefix="p")
    context._save("x", X)
    context._save("x", X, module=model.decoder)
    context._save("z", X, model)
    assert names_in(tmp_path) == [
        "p.decoder.x.call0.pt",
        "p.manual.x.call0.pt",
        "p.root.z.call0.pt",
    ]


def test_context_save_arguments():
    assert begins_with(DebugContext._save, name=..., tensor=..., module=None)


def test_spy_save_calls_the_contexts_save(saver, model):
    class Mine(DebugContext):
        seen: list = []

        def _save(self, name, tensor, module=None):
            self.seen.append((name, tensor is X, module))

    with Mine(saver):
        spy_save("x", X, model)
        spy_save("y", X)
    assert Mine.seen == [("x", True, model), ("y", True, None)]


def test_save_put_on_a_context_object(saver, tmp_path):
    seen = []
    context = DebugContext(saver)
    context._save = lambda name, tensor, module=None: seen.append(name)
    with context:
        spy_save("x", X)
    assert seen == ["x"] and names_in(tmp_path) == []


def test_save_put_on_a_saver_object(saver, tmp_path):
    seen = []
    saver.save = lambda name, tensor: seen.append(name)
    with DebugContext(saver):
        spy_save("x", X)
    assert seen == ["manual.x"] and names_in(tmp_path) == []


# spy_save


def test_spy_save_arguments():
    assert defaults(spy_save) == {"name": ..., "tensor": ..., "module": None}


def test_spy_save_by_keywords(saver, tmp_path, model):
    saver.register_modules(model)
    with DebugContext(saver):
        spy_save(name="x", tensor=X, module=model)
        spy_save("y", tensor=X)
    assert names_in(tmp_path) == ["manual.y.call0.pt", "root.x.call0.pt"]


def test_spy_save_does_nothing_outside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spy_save("x", X) is None and spy_save("x", object(), object()) is None
    assert names_in(tmp_path) == []


def test_spy_save_returns_none(saver):
    with DebugContext(saver):
        assert spy_save("x", X) is None


def test_file_name(saver, tmp_path, model):
    saver.register_modules(model)
    with DebugContext(saver, prefix="step0"):
        model(X)
        model(X)
    assert names_in(tmp_path) == [
        f"step0.{path}.y.call{n}.pt"
        for path in ("decoder", "encoder.0", "encoder.2")
        for n in (0, 1)
    ]


def test_no_leading_dot_without_prefix(saver, tmp_path, model):
    saver.register_modules(model)
    with DebugContext(saver):
        model.decoder(X)
    assert names_in(tmp_path) == ["decoder.y.call0.pt"]


def test_manual_path_without_module(saver, tmp_path):
    with DebugContext(saver, prefix="p"):
        spy_save("x", X)
    with DebugContext(saver):
        spy_save("x", X)
    assert names_in(tmp_path) == ["manual.x.call0.pt", "p.manual.x.call0.pt"]


def test_prefixes_are_counted_apart(saver, tmp_path):
    for prefix in ("a", "b", "a"):
        with DebugContext(saver, prefix):
            spy_save("x", X)
    assert saver.call_counts == {"a.manual.x": 2, "b.manual.x": 1}
    assert names_in(tmp_path) == [
        "a.manual.x.call0.pt",
        "a.manual.x.call1.pt",
        "b.manual.x.call0.pt",
    ]


def test_unregistered_module_warns_and_saves_nothing(saver, tmp_path, model, caplog):
    with caplog.at_level(logging.WARNING), DebugContext(saver, prefix="p"):
        spy_save("attn", X, model)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("Module path unknown for tensor")
    assert "attn" in record.getMessage()
    assert names_in(tmp_path) == [] and saver.call_counts == {}


def test_registered_module_warns_of_nothing(saver, model, caplog, recwarn):
    saver.register_modules(model)
    with DebugContext(saver, prefix="p"):
        model(X)
    assert caplog.records == [] and len(recwarn) == 0


def test_saving_leaves_the_forward_as_it_was(saver, model):
    saver.register_modules(model)
    torch.manual_seed(5)
    plain = model(X)
    plain.sum().backward()
    wanted = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    random = torch.get_rng_state()
    with DebugContext(saver):
        output = model(X)
    assert torch.equal(output, plain) and torch.equal(torch.get_rng_state(), random)
    output.sum().backward()
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), wanted))
